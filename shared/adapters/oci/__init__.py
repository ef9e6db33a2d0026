"""Images from registries: every byte verified against its digest, every size bounded, every refusal a sentence."""
