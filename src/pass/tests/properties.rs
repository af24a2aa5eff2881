//! What holds for all programs: generated expressions, rewritten, against what they should become.

use proptest::prelude::*;
use ruff_python_ast::Mod;
use ruff_python_ast::comparable::ComparableMod;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use super::{WITHIN, apply, parse, pass};
use crate::kinds::NoFacts;
use crate::pass::{Needs, edits_of, find};
use crate::pattern::{Lookup, Pattern};

/// An expression.
#[derive(Debug, Clone)]
enum E {
    Name(char),
    Number(u8),
    Neg(Box<E>),
    Add(Box<E>, Box<E>),
    Pow(Box<E>, Box<E>),
    Less(Box<E>, Box<E>),
    Attribute(Box<E>),
    Subscript(Box<E>, Box<E>),
    Tuple(Vec<E>),
    If(Box<E>, Box<E>, Box<E>),
    /// `np.power`: becomes an operator.
    Power(Box<E>, Box<E>),
    /// `np.negate`: becomes an operator.
    Negate(Box<E>),
    /// `np.real_of`: becomes an attribute.
    RealOf(Box<E>),
    /// `np.swap`: its arguments change places.
    Swap(Box<E>, Box<E>),
    /// `np.old`: a name that becomes another.
    Old,
    /// `np.keep`: a call that stays.
    Keep(Vec<E>),
}

const RULES: &str = "rules:
  - {id: power, match: 'numpy.power($X, $Y)', rewrite: $X ** $Y}
  - {id: negate, match: numpy.negate($X), rewrite: -$X}
  - {id: real, match: numpy.real_of($X), rewrite: $X.real}
  - {id: swap, match: 'numpy.swap($X, $Y)', rewrite: 'numpy.paws($Y, $X)'}
  - {id: old, rename: {numpy.old: numpy.new}}
";

fn expression() -> impl Strategy<Value = E> {
    let leaf = prop_oneof![
        proptest::char::range('a', 'd').prop_map(E::Name),
        (0u8..4).prop_map(E::Number),
        Just(E::Old),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            boxed().prop_map(E::Neg),
            (boxed(), boxed()).prop_map(|(l, r)| E::Add(l, r)),
            (boxed(), boxed()).prop_map(|(l, r)| E::Pow(l, r)),
            (boxed(), boxed()).prop_map(|(l, r)| E::Less(l, r)),
            boxed().prop_map(E::Attribute),
            (boxed(), boxed()).prop_map(|(l, r)| E::Subscript(l, r)),
            prop::collection::vec(inner.clone(), 2..4).prop_map(E::Tuple),
            (boxed(), boxed(), boxed()).prop_map(|(a, b, c)| E::If(a, b, c)),
            (boxed(), boxed()).prop_map(|(l, r)| E::Power(l, r)),
            boxed().prop_map(E::Negate),
            boxed().prop_map(E::RealOf),
            (boxed(), boxed()).prop_map(|(l, r)| E::Swap(l, r)),
            prop::collection::vec(inner, 0..3).prop_map(E::Keep),
        ]
    })
}

impl E {
    fn is_atom(&self) -> bool {
        !matches!(
            self,
            Self::Neg(_) | Self::Add(..) | Self::Pow(..) | Self::Less(..) | Self::If(..) | Self::Number(_)
        )
    }

    /// Whether something is called once all else is rewritten.
    fn calls(&self) -> bool {
        match self {
            Self::Name(_) | Self::Number(_) | Self::Old => false,
            Self::Neg(x) | Self::Attribute(x) | Self::Negate(x) | Self::RealOf(x) => x.calls(),
            Self::Add(l, r)
            | Self::Pow(l, r)
            | Self::Less(l, r)
            | Self::Subscript(l, r)
            | Self::Power(l, r) => l.calls() || r.calls(),
            Self::Tuple(all) => all.iter().any(Self::calls),
            Self::If(a, b, c) => a.calls() || b.calls() || c.calls(),
            _ => true,
        }
    }

    /// The program's text: parentheses where they are needed, line ends where brackets allow them.
    fn plain(&self) -> String {
        let operand = |e: &E| if e.is_atom() { e.plain() } else { format!("({})", e.plain()) };
        match self {
            Self::Name(name) => name.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Neg(x) => format!("-{}", operand(x)),
            Self::Add(l, r) => format!("{} + {}", operand(l), operand(r)),
            Self::Pow(l, r) => format!("{}**{}", operand(l), operand(r)),
            Self::Less(l, r) => format!("{} < {}", operand(l), operand(r)),
            Self::Attribute(x) => format!("{}.t", operand(x)),
            Self::Subscript(l, r) => format!("{}[{}]", operand(l), r.plain()),
            Self::Tuple(all) => format!("({})", all.iter().map(Self::plain).collect::<Vec<_>>().join(", ")),
            Self::If(a, b, c) => format!("{} if {} else {}", operand(a), operand(b), operand(c)),
            Self::Power(l, r) => format!("np.power({}, {})", l.plain(), r.plain()),
            Self::Negate(x) => format!("np.negate(\n  {}\n)", x.plain()),
            Self::RealOf(x) => format!("np . real_of({},)", x.plain()),
            Self::Swap(l, r) => format!("np.swap({}, ({}))", l.plain(), r.plain()),
            Self::Old => "np.old".to_owned(),
            Self::Keep(all) => {
                format!("np.keep({})", all.iter().map(Self::plain).collect::<Vec<_>>().join(",\n"))
            }
        }
    }

    /// What it should become, with parentheses around everything.
    fn expected(&self) -> String {
        let list = |all: &[E]| all.iter().map(Self::expected).collect::<Vec<_>>().join(", ");
        match self {
            Self::Name(name) => name.to_string(),
            Self::Number(number) => format!("({number})"),
            Self::Neg(x) | Self::Negate(x) => format!("(-{})", x.expected()),
            Self::Add(l, r) => format!("({} + {})", l.expected(), r.expected()),
            Self::Pow(l, r) | Self::Power(l, r) => format!("({} ** {})", l.expected(), r.expected()),
            Self::Less(l, r) => format!("({} < {})", l.expected(), r.expected()),
            Self::Attribute(x) => format!("({}).t", x.expected()),
            Self::RealOf(x) => format!("({}).real", x.expected()),
            Self::Subscript(l, r) => format!("{}[{}]", l.expected(), r.expected()),
            Self::Tuple(all) => format!("({})", list(all)),
            Self::If(a, b, c) => format!("({} if {} else {})", a.expected(), b.expected(), c.expected()),
            // Calls must not change their order, so this stays.
            Self::Swap(l, r) if l.calls() && r.calls() => {
                format!("np.swap({}, {})", l.expected(), r.expected())
            }
            Self::Swap(l, r) => format!("np.paws({}, {})", r.expected(), l.expected()),
            Self::Old => "np.new".to_owned(),
            Self::Keep(all) => format!("np.keep({})", list(all)),
        }
    }
}

fn tree(text: &str) -> Mod {
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
    assert!(parsed.errors().is_empty(), "{text}: {:?}", parsed.errors());
    parsed.into_syntax()
}

fn program(expression: &str) -> String {
    format!("import numpy as np\nx = [{expression}]\nnp\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_rewritten_program_means_what_it_should(e in expression()) {
        let pass = pass(&format!("{WITHIN}{RULES}"));
        let before = program(&e.plain());
        let result = apply(&pass, &before);
        let lines = result.split_once('\n').unwrap().1;
        let expected = format!("x = [{}]\nnp\n", e.expected());
        let (actual, expected) = (tree(lines), tree(&expected));
        let same = ComparableMod::from(&actual) == ComparableMod::from(&expected);
        prop_assert!(same, "\n{}\n{}", before, result);
        // Running again changes nothing.
        prop_assert_eq!(apply(&pass, &result), result);
    }

    #[test]
    fn edits_are_disjoint_and_touch_only_matches(e in expression()) {
        let pass = pass(&format!("{WITHIN}{RULES}"));
        let text = program(&e.plain());
        let (module, names) = parse(&text);
        let (matches, _) = find(&pass, &module, &names, &NoFacts);
        let all: Vec<_> = matches.iter().collect();
        let edits = edits_of(&module, &names, &all, &Needs::default()).unwrap();
        let ranges: Vec<_> = edits.iter().map(|edit| edit.range).collect();
        prop_assert!(ranges.windows(2).all(|pair| pair[0].end() <= pair[1].start()));
        prop_assert!(ranges.iter().all(|range| range.start() < 19.into()
            || matches.iter().any(|it| it.range.contains_range(*range))));
    }

    #[test]
    fn an_expression_matches_itself_as_a_pattern(e in expression()) {
        let text = e.plain().replace("np", "numpy");
        // Plain names stand for modules in a pattern; here they are metavariables.
        let mut pattern_text = String::new();
        let mut previous = ' ';
        for c in text.chars() {
            let alone = !previous.is_alphanumeric() && previous != '_' && previous != '.';
            if ('a'..='d').contains(&c) && alone {
                pattern_text.push('$');
                pattern_text.push(c.to_ascii_uppercase());
            } else {
                pattern_text.push(c);
            }
            previous = c;
        }
        let Ok(pattern) = Pattern::parse(&pattern_text) else {
            prop_assume!(false, "a pattern of nothing but a metavariable");
            return Ok(());
        };
        let (module, names) = parse(&format!("import numpy\n({text})\n"));
        let Some(ruff_python_ast::Stmt::Expr(statement)) = module.body().last() else { unreachable!() };
        let lookup = Lookup { names: &names, table: None, sources: &[] };
        prop_assert!(pattern.match_expression(lookup, &statement.value).is_some(), "{}", pattern_text);
    }
}
