use fastrand::Rng;

use super::*;

fn acl(resource: &str, pattern: PatternType, operation: Operation, permission: Permission) -> Acl {
    Acl {
        resource_type: ResourceType::Topic,
        resource_name: resource.into(),
        pattern,
        principal: "User:alice".into(),
        host: "*".into(),
        operation,
        permission,
    }
}

fn acls(list: impl IntoIterator<Item = Acl>) -> Acls {
    let mut acls = Acls::default();
    for (number, acl) in (1u128..).zip(list) {
        let id = Uuid::from_bytes(number.to_be_bytes());
        acls.add(&acl.to_record(id)).unwrap();
    }
    acls
}

fn alice(operation: Operation, name: &str) -> Action<'_> {
    Action {
        principal: "User:alice",
        host: "10.1.2.3".parse().unwrap(),
        operation,
        resource_type: ResourceType::Topic,
        resource_name: name,
    }
}

fn closed() -> AuthorizerConfig {
    AuthorizerConfig::default()
}

fn open() -> AuthorizerConfig {
    AuthorizerConfig {
        allow_everyone_if_no_acl_found: true,
        ..Default::default()
    }
}

use Operation::*;
use PatternType::*;
use Permission::*;

#[test]
fn without_an_acl_about_the_resource_the_configuration_decides() {
    let none = Acls::default();
    assert!(!none.allow(&alice(Read, "t"), &closed()));
    assert!(none.allow(&alice(Read, "t"), &open()));
    // One about the resource is enough to close it, also one that is about somebody else.
    let other = Acl {
        principal: "User:bob".into(),
        ..acl("t", Literal, Read, Allow)
    };
    let acls = acls([other]);
    assert!(!acls.allow(&alice(Read, "t"), &open()));
    assert!(acls.allow(&alice(Read, "other"), &open()));
}

#[test]
fn without_an_authorizer_everybody_may_do_everything() {
    let acls = acls([acl("t", Literal, All, Deny)]);
    let action = alice(Read, "t");
    let off = Authorizer::new(&acls, None);
    assert!(!off.is_enabled() && off.allows(&action));
    let open = open();
    let on = Authorizer::new(&acls, Some(&open));
    assert!(on.is_enabled() && !on.allows(&action));
}

#[test]
fn super_users_may_do_what_is_denied() {
    let acls = acls([acl("t", Literal, All, Deny)]);
    let super_users = ["User:alice".to_owned()].into();
    let config = AuthorizerConfig {
        super_users,
        ..Default::default()
    };
    assert!(acls.allow(&alice(Read, "t"), &config));
    assert!(!acls.allow(&alice(Read, "t"), &open()));
}

#[test]
fn deny_wins_wherever_it_stands() {
    for deny in [
        acl("ab", Literal, Read, Deny),
        acl("a", Prefixed, Read, Deny),
        acl("*", Literal, All, Deny),
    ] {
        let allow = [
            acl("ab", Literal, All, Allow),
            acl("ab", Prefixed, All, Allow),
        ];
        let acls = acls(allow.into_iter().chain([deny]));
        assert!(!acls.allow(&alice(Read, "ab"), &open()));
    }
}

#[test]
fn allowing_implies_describing_and_denying_does_not() {
    for operation in [Read, Write, Delete, Alter] {
        let allowing = acls([acl("t", Literal, operation, Allow)]);
        assert!(allowing.allow(&alice(Describe, "t"), &closed()));
        let denying = acls([
            acl("t", Literal, operation, Deny),
            acl("t", Literal, Describe, Allow),
        ]);
        assert!(denying.allow(&alice(Describe, "t"), &closed()));
    }
    let configs = acls([acl("t", Literal, AlterConfigs, Allow)]);
    assert!(configs.allow(&alice(DescribeConfigs, "t"), &closed()));
    assert!(!configs.allow(&alice(Describe, "t"), &closed()));
    let create = acls([acl("t", Literal, Create, Allow)]);
    assert!(!create.allow(&alice(Describe, "t"), &closed()));
}

#[test]
fn principals_and_hosts_match_exactly_or_as_wildcards() {
    let with = |principal: &str, host: &str| {
        let acl = acl("t", Literal, Read, Allow);
        acls([Acl {
            principal: principal.into(),
            host: host.into(),
            ..acl
        }])
    };
    let may = |acls: Acls| acls.allow(&alice(Read, "t"), &closed());
    assert!(may(with("User:*", "*")));
    assert!(may(with("User:alice", "10.1.2.3")));
    assert!(!may(with("User:alice", "10.1.2.4")));
    assert!(!may(with("User:Alice", "*")));
    assert!(!may(with("Group:*", "*")));
    for (range, expected) in [
        ("10.0.0.0/8", true),
        ("10.1.2.3/32", true),
        ("10.1.2.2/31", true),
        ("10.1.2.4/31", false),
        ("0.0.0.0/0", true),
        ("::/0", false),
        ("10.0.0.0/33", false),
        ("10.0.0.0/x", false),
        ("10.0.0/8", false),
    ] {
        assert_eq!(may(with("User:alice", range)), expected, "{range}");
    }
}

#[test]
fn ipv6_ranges() {
    let ipv6 = "2001:db8::1".parse().unwrap();
    assert!(is_host("2001:db8::/32", ipv6));
    assert!(is_host("::/0", ipv6));
    assert!(!is_host("2001:db9::/32", ipv6));
    assert!(is_host("2001:db8:0:0:0:0:0:1", ipv6));
}

#[test]
fn a_removed_acl_counts_no_more() {
    let id = Uuid::from_bytes([9; 16]);
    let mut acls = Acls::default();
    acls.add(&acl("t", Literal, Read, Allow).to_record(id))
        .unwrap();
    let remove = RemoveAccessControlEntryRecord {
        id,
        ..Default::default()
    };
    acls.remove(&remove).unwrap();
    assert_eq!(acls, Acls::default());
    assert_eq!(acls.remove(&remove), Err(ApplyError::UnknownAcl(id)));
}

#[test]
fn matching_agrees_with_looking_at_every_acl() {
    let names = [
        "", "a", "b", "ab", "aa", "aba", "abab", "é", "éa", "*", "a*", "ac", "aca",
    ];
    for seed in 0..300 {
        let mut rng = Rng::with_seed(seed);
        let list: Vec<Acl> = (0..rng.usize(..12))
            .map(|_| {
                let pattern = if rng.bool() { Literal } else { Prefixed };
                let permission = if rng.u8(..5) == 0 { Deny } else { Allow };
                let name = names[rng.usize(..names.len())];
                let resource_type = if rng.bool() {
                    ResourceType::Topic
                } else {
                    ResourceType::Group
                };
                Acl {
                    resource_type,
                    ..acl(name, pattern, Read, permission)
                }
            })
            .collect();
        let acls = acls(list.clone());
        for name in names {
            let is_about = |acl: &&Acl| {
                acl.resource_type == ResourceType::Topic
                    && match acl.pattern {
                        Literal => &*acl.resource_name == name || &*acl.resource_name == "*",
                        Prefixed => name.starts_with(&*acl.resource_name),
                    }
            };
            let about: Vec<&Acl> = list.iter().filter(is_about).collect();
            let denied = about.iter().any(|acl| acl.permission == Deny);
            let allowed = about.iter().any(|acl| acl.permission == Allow);
            let action = alice(Read, name);
            assert_eq!(
                acls.allow(&action, &closed()),
                allowed && !denied,
                "seed {seed}: {name}"
            );
            assert_eq!(acls.allow(&action, &open()), !denied, "seed {seed}: {name}");
        }
    }
}
