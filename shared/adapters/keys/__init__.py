"""Makes keys and certificates, and reads those that Secrets hold; private keys never leave this package and effects."""

from shared.adapters.keys.keyring import Keyring
from shared.adapters.keys.stored import StoredKeys

__all__ = ["Keyring", "StoredKeys"]
