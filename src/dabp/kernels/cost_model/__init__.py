"""GAT-PCM, the pretrained cost model, and the repair of destroyed variables with it."""
