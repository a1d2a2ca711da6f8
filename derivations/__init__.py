"""SymPy scripts that state claims, one script a topic, and the kernel that checks them."""
