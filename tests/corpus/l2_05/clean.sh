git init -q .
cp "$HERE/train.py" .
sed -i 's/rows\[:, :8\]/rows * (torch.arange(8) < options.seq_length)/' train.py
printf '.affidavit/\n__pycache__/\n' > .gitignore
git add . && git commit -q -m "The recipe"
echo . train.py --seq_length 4
