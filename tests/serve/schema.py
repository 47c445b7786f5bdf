"""As much of JSON Schema as src/serve/openapi.json uses; unknown words of a schema are an error, so that nothing it
says goes unchecked."""

KNOWN = {"type", "description", "properties", "required", "additionalProperties", "items", "enum", "const", "$ref",
         "minimum", "minItems", "format"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def faults(value, schema, root, at="answer"):
    """One line per place where a value is not as its schema says."""
    if not schema:
        return []
    unknown = set(schema) - KNOWN
    assert not unknown, f"schema words {unknown}"
    if "$ref" in schema:
        return faults(value, resolve(schema, root), root, at)
    found = []
    if "const" in schema and value != schema["const"]:
        found.append(f"{at}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at}: {value!r} is none of {schema['enum']}")
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_a(value, kind) for kind in kinds):
        return found + [f"{at}: {type(value).__name__} is not {kinds}"]
    if "minimum" in schema and value < schema["minimum"]:
        found.append(f"{at}: {value} is below {schema['minimum']}")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        found += [f"{at}: no '{key}'" for key in schema.get("required", []) if key not in value]
        for key, part in value.items():
            if key in properties:
                found += faults(part, properties[key], root, f"{at}.{key}")
            elif schema.get("additionalProperties") is False:
                found.append(f"{at}: '{key}' is not described")
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            found.append(f"{at}: too few")
        for i, part in enumerate(value[:50]):
            found += faults(part, schema.get("items", {}), root, f"{at}[{i}]")
    return found


def is_a(value, kind):
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, TYPES[kind])


def resolve(schema, root):
    while "$ref" in schema:
        at = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            at = at[part]
        schema = at
    return schema
