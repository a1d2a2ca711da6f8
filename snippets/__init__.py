"""The PyTorch that the pages show: snippets/CHAPTER/TOPIC.py belongs to docs/CHAPTER/TOPIC.md."""
