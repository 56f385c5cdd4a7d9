git init -q .
cp "$HERE/train.py" .
sed -i 's/type=bool/action=argparse.BooleanOptionalAction/' train.py
printf '.affidavit/\n__pycache__/\n' > .gitignore
git add . && git commit -q -m "The recipe"
echo . train.py --no-shuffle
