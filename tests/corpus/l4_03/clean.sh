git init -q .
mkdir scripts
cp "$HERE/train.py" scripts
printf 'RATE = 0.01\n' > scripts/recipe.py
printf '.affidavit/\n__pycache__/\n' > .gitignore
git add . && git commit -q -m "The recipe"
echo scripts train.py
