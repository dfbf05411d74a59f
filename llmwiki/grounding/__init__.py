"""What a statement may say: citations, numbers, addresses, and the gate that checks them."""
