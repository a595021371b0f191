"""Non-public parts that scripts use nevertheless."""
