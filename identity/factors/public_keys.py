"""Which public keys of passkeys are acceptable: their type, size, and that a point is on its curve.

At a registration without attestation nothing is signed, so no library looks at the key.
"""

from collections.abc import Mapping
from typing import Any, Final

_MIN_RSA_BITS: Final = 2_048
_MAX_RSA_BITS: Final = 8_192  # a larger key makes each verification slow
_MAX_RSA_EXPONENT: Final = 2**32
_KEY_TYPE, _CURVE, _X, _Y = 1, -1, -2, -3
_MODULUS, _EXPONENT = -1, -2
_OKP, _EC2, _RSA = 1, 2, 3
_COORDINATE_BYTES: Final = 32

# P-256 (FIPS 186-5): y² = x³ - 3x + b.
_P256: Final = 2**256 - 2**224 + 2**192 + 2**96 - 1
_P256_B: Final = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B

# Ed25519 (RFC 8032): -x² + y² = 1 + dx²y².
_P25519: Final = 2**255 - 19
_D25519: Final = -121665 * pow(121666, -1, _P25519) % _P25519
# The y of the points of small order: with such a key, some signatures fit every message.
_SMALL_ORDER: Final = {
    0,
    1,
    _P25519 - 1,
    int.from_bytes(
        bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
    ),
    int.from_bytes(
        bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little"
    ),
}


def is_acceptable(algorithm: int, key: Mapping[Any, Any]) -> bool:
    """Return whether a COSE key fits its algorithm, and is strong enough."""
    checks = {-7: _is_p256, -8: _is_ed25519, -257: _is_rsa}
    return checks[algorithm](key)


def _is_p256(key: Mapping[Any, Any]) -> bool:
    x, y = _read(key, _X, _COORDINATE_BYTES), _read(key, _Y, _COORDINATE_BYTES)
    if (key.get(_KEY_TYPE), key.get(_CURVE)) != (_EC2, 1) or x is None or y is None:
        return False
    x_number, y_number = int.from_bytes(x), int.from_bytes(y)
    is_in_field = x_number < _P256 and y_number < _P256
    return is_in_field and (y_number**2 - x_number**3 + 3 * x_number - _P256_B) % _P256 == 0


def _is_ed25519(key: Mapping[Any, Any]) -> bool:
    point = _read(key, _X, _COORDINATE_BYTES)
    if (key.get(_KEY_TYPE), key.get(_CURVE)) != (_OKP, 6) or point is None:
        return False
    y = int.from_bytes(point, "little") & (2**255 - 1)
    if y >= _P25519 or y in _SMALL_ORDER:
        return False
    square = (y * y - 1) * pow(_D25519 * y * y + 1, -1, _P25519)
    return pow(square, (_P25519 - 1) // 2, _P25519) == 1  # there is an x with this square


def _is_rsa(key: Mapping[Any, Any]) -> bool:
    modulus, exponent = key.get(_MODULUS), key.get(_EXPONENT)
    if key.get(_KEY_TYPE) != _RSA or not isinstance(modulus, bytes) or not isinstance(exponent, bytes):
        return False
    n, e = int.from_bytes(modulus), int.from_bytes(exponent)
    is_strong = _MIN_RSA_BITS <= n.bit_length() <= _MAX_RSA_BITS and n % 2 == 1
    return is_strong and 1 < e < _MAX_RSA_EXPONENT and e % 2 == 1


def _read(key: Mapping[Any, Any], member: int, length: int) -> bytes | None:
    value = key.get(member)
    return value if isinstance(value, bytes) and len(value) == length else None
