"""Scripts that state claims, one a topic, and the kernel that checks them."""
