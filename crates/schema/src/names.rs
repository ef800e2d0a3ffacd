/// A schema's name in Rust's form for fields and modules: `ThrottleTimeMs` is `throttle_time_ms`.
pub fn snake_case(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut snake = String::with_capacity(name.len() + 8);
    for (index, c) in chars.iter().enumerate() {
        if c.is_uppercase() && index > 0 {
            let after_lower = !chars[index - 1].is_uppercase();
            let before_lower = chars.get(index + 1).is_some_and(|next| next.is_lowercase());
            if after_lower || before_lower {
                snake.push('_');
            }
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

/// A schema's name in the form that Kafka's JSON uses: `ThrottleTimeMs` is `throttleTimeMs`.
pub fn camel_case(name: &str) -> String {
    let mut chars = name.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_words() {
        assert_eq!(snake_case("ThrottleTimeMs"), "throttle_time_ms");
        assert_eq!(snake_case("KRaftVersion"), "k_raft_version");
        assert_eq!(snake_case("ELR"), "elr");
        assert_eq!(snake_case("SCRAMMechanism"), "scram_mechanism");
        assert_eq!(snake_case("groupId"), "group_id");
        assert_eq!(camel_case("ThrottleTimeMs"), "throttleTimeMs");
    }
}
