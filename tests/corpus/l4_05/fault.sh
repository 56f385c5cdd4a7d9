git init -q .
cp "$HERE/train.py" .
cp "$HERE/recipe.py" .
printf '{"rate": 0.01}\n' > recipe.json
printf '.affidavit/\n__pycache__/\n' > .gitignore
git add . && git commit -q -m "The recipe"
printf '{"rate": 0.1}\n' > recipe.json
echo . train.py
