git init -q .
cp "$HERE/train.py" .
printf '.affidavit/\n__pycache__/\n' > .gitignore
git add . && git commit -q -m "The recipe"
printf 'RATE = 0.1\n' > recipe.py
echo . train.py
