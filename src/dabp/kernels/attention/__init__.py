"""DABP's attention: weights and damping of Eq. 10-13 fused with the messages of Eq. 6, forwards and backwards."""
