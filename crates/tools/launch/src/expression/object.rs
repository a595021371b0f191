//! The values of expressions, and the operators on them, as in Python.

use std::cmp::Ordering;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Object {
    None,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Object>),
}

pub(super) fn compare(operator: &str, left: &Object, right: &Object) -> Result<bool, String> {
    match operator {
        "==" => return Ok(left.equals(right)),
        "!=" => return Ok(!left.equals(right)),
        "in" | "not in" => {
            let inside = match (left, right) {
                (Object::Text(part), Object::Text(whole)) => whole.contains(part.as_str()),
                (item, Object::List(items)) => items.iter().any(|each| each.equals(item)),
                _ => {
                    return Err(format!(
                        "`{}` {operator} `{}` has no meaning",
                        left.to_repr(),
                        right.to_repr()
                    ));
                }
            };
            return Ok(inside == (operator == "in"));
        }
        _ => {}
    }
    let order = match (left, right) {
        (Object::Text(left), Object::Text(right)) => Some(left.cmp(right)),
        _ => match (left.as_float(), right.as_float()) {
            (Some(left_number), Some(right_number)) => {
                match (left.as_integer(), right.as_integer()) {
                    (Some(left), Some(right)) => Some(left.cmp(&right)),
                    _ => left_number.partial_cmp(&right_number),
                }
            }
            _ => {
                return Err(format!(
                    "`{}` {operator} `{}` compares a string with a number",
                    left.to_repr(),
                    right.to_repr()
                ));
            }
        },
    };
    Ok(match operator {
        "<" => order == Some(Ordering::Less),
        ">" => order == Some(Ordering::Greater),
        "<=" => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    })
}

pub(super) fn calculate(sign: &str, left: Object, right: Object) -> Result<Object, String> {
    if let ("+", Object::Text(left), Object::Text(right)) = (sign, &left, &right) {
        return Ok(Object::Text(format!("{left}{right}")));
    }
    let meaningless =
        || format!("`{}` {sign} `{}` has no meaning", left.to_repr(), right.to_repr());
    let by_zero = || format!("`{}` {sign} `{}` divides by zero", left.to_repr(), right.to_repr());
    if let (Some(a), Some(b)) = (left.as_integer(), right.as_integer()) {
        if b == 0 && matches!(sign, "/" | "//" | "%") {
            return Err(by_zero());
        }
        let whole = match sign {
            "+" => a.checked_add(b),
            "-" => a.checked_sub(b),
            "*" => a.checked_mul(b),
            "//" => a
                .checked_div(b)
                .map(|quotient| quotient - i64::from(a % b != 0 && (a < 0) != (b < 0))),
            "%" => a
                .checked_rem(b)
                .map(|rest| if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }),
            _ => None,
        };
        if let Some(whole) = whole {
            return Ok(Object::Integer(whole));
        }
        if sign != "/" {
            return Err(format!(
                "the result of `{}` {sign} `{}` is too large",
                left.to_repr(),
                right.to_repr()
            ));
        }
    }
    let (Some(a), Some(b)) = (left.as_float(), right.as_float()) else { return Err(meaningless()) };
    if b == 0.0 && matches!(sign, "/" | "//" | "%") {
        return Err(by_zero());
    }
    Ok(Object::Float(match sign {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "//" => (a / b).floor(),
        _ => a - b * (a / b).floor(),
    }))
}

impl Object {
    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bool(value) => *value,
            Self::Integer(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
        }
    }

    fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Bool(value) => Some(i64::from(*value)),
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "as Python mixes the two")]
    fn as_float(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(*value),
            _ => self.as_integer().map(|value| value as f64),
        }
    }

    #[expect(clippy::float_cmp, reason = "as Python compares")]
    fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(left), Self::List(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right).all(|(left, right)| left.equals(right))
            }
            _ => match (self.as_integer(), other.as_integer(), self.as_float(), other.as_float()) {
                (Some(left), Some(right), ..) => left == right,
                (_, _, Some(left), Some(right)) => left == right,
                _ => self == other,
            },
        }
    }

    pub(super) fn to_text(&self) -> String {
        match self {
            Self::None => "None".to_owned(),
            Self::Bool(true) => "True".to_owned(),
            Self::Bool(false) => "False".to_owned(),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) if value.is_nan() => "nan".to_owned(),
            Self::Float(value) => format!("{value:?}"),
            Self::Text(text) => text.clone(),
            Self::List(items) => {
                format!("[{}]", items.iter().map(Self::to_repr).collect::<Vec<_>>().join(", "))
            }
        }
    }

    pub(super) fn to_repr(&self) -> String {
        match self {
            Self::Text(text) => format!("'{text}'"),
            other => other.to_text(),
        }
    }
}
