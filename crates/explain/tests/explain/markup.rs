//! A reader of HTML that takes nothing for granted.

use std::collections::BTreeSet;

const VOID: &[&str] = &["br", "input", "link", "meta"];
/// Elements whose text is not markup.
const TEXTS: &[&str] = &["script", "style"];

/// What tests look at.
#[derive(Debug, Default)]
pub(crate) struct Markup {
    pub(crate) ids: BTreeSet<String>,
    /// Every `href`, `src`, and the ids that ARIA names.
    pub(crate) links: Vec<String>,
    pub(crate) elements: Vec<Element>,
}

#[derive(Debug, Default)]
pub(crate) struct Element {
    pub(crate) tag: String,
    pub(crate) attributes: Vec<(String, String)>,
    /// All text below it.
    pub(crate) text: String,
    pub(crate) depth: usize,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> &str {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }
}

impl Markup {
    /// Reads HTML. Panics where it is not well formed, or an id comes twice.
    pub(crate) fn read(html: &str, place: &str) -> Self {
        let mut markup = Self::default();
        let mut open: Vec<usize> = Vec::new();
        let mut rest = html.strip_prefix("<!DOCTYPE html>").unwrap_or(html);
        while let Some(at) = rest.find('<') {
            let text = unescaped(&rest[..at], place);
            for index in &open {
                markup.elements[*index].text.push_str(&text);
            }
            let end = at + rest[at..].find('>').expect("a tag ends");
            let tag = &rest[at + 1..end];
            rest = &rest[end + 1..];
            if let Some(name) = tag.strip_prefix('/') {
                let index = open.pop().unwrap_or_else(|| panic!("{place}: </{name}>"));
                assert_eq!(markup.elements[index].tag, name, "{place}");
                continue;
            }
            let element = element(tag, open.len(), place);
            for (name, value) in &element.attributes {
                match name.as_str() {
                    "id" => assert!(markup.ids.insert(value.clone()), "{place}: id {value}"),
                    "href" | "src" => markup.links.push(value.clone()),
                    "aria-labelledby" | "aria-describedby" | "for" => {
                        markup.links.push(format!("#{value}"));
                    }
                    _ => {}
                }
                assert!(
                    !name.starts_with("on") && name != "style",
                    "{place}: {name}"
                );
            }
            let name = element.tag.clone();
            markup.elements.push(element);
            if TEXTS.contains(&name.as_str()) {
                let end = rest.find(&format!("</{name}>")).expect("a script ends");
                let text = rest[..end].to_owned();
                markup.elements.last_mut().unwrap().text = text;
                rest = &rest[end + name.len() + 3..];
            } else if !VOID.contains(&name.as_str()) {
                open.push(markup.elements.len() - 1);
            }
        }
        assert!(rest.trim().is_empty(), "{place}: {rest}");
        assert!(open.is_empty(), "{place}: open elements");
        markup
    }

    /// The elements below another, all of them.
    pub(crate) fn below(&self, index: usize) -> impl Iterator<Item = (usize, &Element)> {
        let depth = self.elements[index].depth;
        let rest = self.elements.iter().enumerate().skip(index + 1);
        rest.take_while(move |(_, element)| element.depth > depth)
    }

    /// The places of the elements with a tag and a class.
    pub(crate) fn find(&self, tag: &str, class: &str) -> Vec<usize> {
        let is = |element: &Element| {
            let mut classes = element.attribute("class").split(' ');
            element.tag == tag && (class.is_empty() || classes.any(|each| each == class))
        };
        let all = self.elements.iter().enumerate();
        all.filter(|(_, element)| is(element))
            .map(|(index, _)| index)
            .collect()
    }
}

fn element(tag: &str, depth: usize, place: &str) -> Element {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    assert!(name.chars().all(is_name), "{place}: <{tag}>");
    let mut attributes = Vec::new();
    while !rest.is_empty() {
        let end = rest.find(['=', ' ']).unwrap_or(rest.len());
        let key = &rest[..end];
        assert!(key.chars().all(is_name), "{place}: <{tag}>");
        let mut value = String::new();
        rest = &rest[end..];
        if let Some(quoted) = rest.strip_prefix("=\"") {
            let end = quoted.find('"').expect("a quote ends");
            value = unescaped(&quoted[..end], place);
            rest = &quoted[end + 1..];
        }
        assert!(
            attributes.iter().all(|(known, _)| known != key),
            "{place}: <{tag}>"
        );
        attributes.push((key.to_owned(), value));
        rest = rest.strip_prefix(' ').unwrap_or(rest);
    }
    Element {
        tag: name.to_owned(),
        attributes,
        text: String::new(),
        depth,
    }
}

fn unescaped(text: &str, place: &str) -> String {
    assert!(!text.contains('>'), "{place}: a lone > in {text:?}");
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';').expect("an escape ends");
        out.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            _ => panic!("{place}: &{name};"),
        });
        out.push_str(rest);
    }
    out
}
