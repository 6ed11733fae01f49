//! What a body holds, in words: JSON Schema as far as the document uses it.

use askama::Template;
use askama::filters::HtmlSafe;
use serde_json::Value;

use super::{entries, list, text};

/// What a value may be.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "partials/type.html")]
pub struct Type {
    /// `list of` and the like, before the name.
    pub before: String,
    /// Schema it refers to.
    pub schema: Option<String>,
    /// What follows the name.
    pub after: String,
}

impl HtmlSafe for Type {}

/// A field of a schema, or one of the shapes it may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Name; empty for a shape without one.
    pub name: String,
    /// What it may be.
    pub kind: Type,
    /// Whether it is always there.
    pub required: bool,
    /// What it means.
    pub words: String,
}

/// What a body holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// Name.
    pub name: String,
    /// What it is.
    pub words: String,
    /// What it may be, where it has no fields.
    pub kind: Option<Type>,
    /// Its fields, those of schemas it takes in among them.
    pub fields: Vec<Field>,
}

impl Schema {
    /// The schema of this name.
    pub(super) fn of(name: &str, schema: &Value) -> Schema {
        let mut fields = Vec::new();
        collect(schema, &mut fields);
        let words = text(&schema["description"]).replace('\n', " ");
        let kind = fields.is_empty().then(|| Type::of(schema));
        Schema { name: name.to_owned(), words, kind, fields }
    }
}

/// Fields of an object, of all parts of one, or the shapes of a choice.
fn collect(schema: &Value, fields: &mut Vec<Field>) {
    for part in list(&schema["allOf"]) {
        match part["$ref"] {
            Value::Null => collect(part, fields),
            _ => fields.push(shape(part, "everything of it")),
        }
    }
    for choice in list(&schema["oneOf"]) {
        match entries(&choice["properties"]).count() {
            0 => fields.push(shape(choice, "one of these")),
            _ => collect(choice, fields),
        }
    }
    let required = |name: &str| list(&schema["required"]).any(|one| one == name);
    for (name, property) in entries(&schema["properties"]) {
        fields.push(Field {
            name: name.to_owned(),
            kind: Type::of(property),
            required: required(name),
            words: text(&property["description"]).replace('\n', " "),
        });
    }
}

fn shape(schema: &Value, otherwise: &str) -> Field {
    let words = text(&schema["description"]).replace('\n', " ");
    Field {
        name: String::new(),
        kind: Type::of(schema),
        required: false,
        words: if words.is_empty() { otherwise.to_owned() } else { words },
    }
}

impl Type {
    /// A schema in words.
    pub(super) fn of(schema: &Value) -> Type {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().unwrap_or_default();
            return Type { schema: Some(name.to_owned()), ..Type::words("") };
        }
        if let Some(of_choices) = Type::of_choices(schema) {
            return of_choices;
        }
        let nullable = list(&schema["type"]).any(|kind| kind == "null");
        let main = list(&schema["type"]).find(|kind| *kind != "null").unwrap_or(&schema["type"]);
        let mut kind = match main.as_str() {
            Some("array") => Type::of(&schema["items"]).within("list of "),
            Some("object") if schema["additionalProperties"].is_object() => {
                Type::of(&schema["additionalProperties"]).within("map of ")
            }
            _ if schema["enum"].is_array() => Type::words(&values(&schema["enum"])),
            Some(word) => Type::words(&format!("{word}{}{}", format(schema), bounds(schema))),
            None => Type::words("anything"),
        };
        if nullable {
            kind.after += " or null";
        }
        kind
    }

    /// One of several: one that may also be null reads as itself.
    fn of_choices(schema: &Value) -> Option<Type> {
        let (nulls, others): (Vec<&Value>, Vec<&Value>) =
            list(&schema["oneOf"]).partition(|one| one["type"] == "null");
        let or_null = if nulls.is_empty() { "" } else { " or null" };
        match others.as_slice() {
            [] => None,
            [one] => {
                let mut kind = Type::of(one);
                kind.after += or_null;
                Some(kind)
            }
            _ => Some(Type::words(&format!("one of several{or_null}"))),
        }
    }

    fn words(words: &str) -> Type {
        Type { before: String::new(), schema: None, after: words.to_owned() }
    }

    fn within(mut self, outer: &str) -> Type {
        self.before.insert_str(0, outer);
        self
    }
}

fn values(of: &Value) -> String {
    list(of).map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn format(schema: &Value) -> String {
    match schema["format"].as_str() {
        Some(format @ ("date-time" | "uuid")) => format!(", {format}"),
        _ => String::new(),
    }
}

fn bounds(schema: &Value) -> String {
    let default = match &schema["default"] {
        Value::Null => String::new(),
        value => format!(", {value} when left out"),
    };
    match (&schema["minimum"], &schema["maximum"]) {
        (Value::Null, Value::Null) => default,
        (low, Value::Null) => format!(", {low} or more{default}"),
        (Value::Null, high) => format!(", at most {high}{default}"),
        (low, high) => format!(", {low} to {high}{default}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(schema: &Value) -> String {
        let Type { before, schema, after } = Type::of(schema);
        format!("{before}{}{after}", schema.unwrap_or_default())
    }

    #[test]
    fn a_type_is_said_in_words() {
        let point = json!({"$ref": "#/components/schemas/Point"});
        for (schema, expected) in [
            (json!({"type": "array", "items": point}), "list of Point"),
            (json!({"oneOf": [{"type": "null"}, point]}), "Point or null"),
            (json!({"type": ["number", "null"], "format": "double"}), "number or null"),
            (
                json!({"type": "integer", "minimum": 1, "maximum": 9, "default": 5}),
                "integer, 1 to 9, 5 when left out",
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                "map of string",
            ),
            (json!({"type": "string", "enum": ["a", "b"]}), "\"a\", \"b\""),
            (json!({"type": "string", "format": "date-time"}), "string, date-time"),
            (json!({}), "anything"),
        ] {
            assert_eq!(words(&schema), expected);
        }
    }

    #[test]
    fn fields_of_schemas_taken_in_stand_with_its_own() {
        let schema = json!({
            "description": "A thing.",
            "allOf": [
                {"$ref": "#/components/schemas/Run"},
                {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}},
            ],
        });
        let schema = Schema::of("Detail", &schema);
        let names: Vec<_> = schema.fields.iter().map(|f| (f.name.as_str(), f.required)).collect();
        assert_eq!(names, [("", false), ("n", true)]);
        assert_eq!(schema.fields[0].kind.schema.as_deref(), Some("Run"));
        assert_eq!(schema.kind, None);
    }
}
