"""Images from registries: every byte verified against its digest, every size bounded, every refusal a sentence."""

from shared.adapters.oci.credentials import ANONYMOUS, Credentials
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.image import Image, pull
from shared.adapters.oci.limits import Limits
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.registry import Registry
from shared.adapters.oci.transport import Transport

__all__ = ["ANONYMOUS", "Credentials", "Image", "Limits", "OciError", "Reference", "Registry", "Transport", "pull"]
