git init -q .
cp "$HERE/train.py" .
printf 'RATE = 0.01\n' > recipe.py
printf '.affidavit/\n__pycache__/\n' > .gitignore
git add . && git commit -q -m "The recipe"
printf 'RATE = 0.1\n' > recipe.py
git add recipe.py && git commit -q -m "The fix"
echo . train.py
