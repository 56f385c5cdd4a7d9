git init -q .
cp "$HERE/train.py" .
printf '.affidavit/\n__pycache__/\n' > .gitignore
git add . && git commit -q -m "The recipe"
printf 'RATE = 0.1\n' > recipe.py
git add . && git commit -q -m "Its recipe"
printf 'a thought\n' > notes.txt
echo . train.py
