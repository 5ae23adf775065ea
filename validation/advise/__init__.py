"""How good is the advice, beside an exhaustive search over the same catalogue?"""
