"""A profile with every standard claim."""

ADDRESS_OF_ADA = {
    "formatted": "12 St James's Square\nLondon SW1Y 4JH",
    "street_address": "12 St James's Square",
    "locality": "London",
    "region": "England",
    "postal_code": "SW1Y 4JH",
    "country": "GB",
}
PROFILE = {
    "given_name": "Ada",
    "family_name": "Lovelace",
    "middle_name": "Augusta",
    "nickname": "the enchantress of numbers",
    "profile": "https://people.example/ada",
    "website": "http://ada.example/",
    "gender": "female",
    "birthdate": "1815-12-10",
    "zoneinfo": "Europe/London",
    "locale": "en-GB",
    "address": ADDRESS_OF_ADA,
}
