//! The exhibits, in the order of the report.

use super::exhibit::Exhibit;
use super::{
    averages, beta, calibration, conformal, fields, gaussian, invariant, iterates, law, levy, networks,
    orders, overdamped, systems, text,
};

/// Returns all exhibits.
pub fn exhibits() -> Vec<Exhibit> {
    vec![
        levy::EXHIBIT,
        systems::EXHIBIT,
        fields::EXHIBIT,
        averages::EXHIBIT,
        invariant::EXHIBIT,
        iterates::EXHIBIT,
        overdamped::EXHIBIT,
        networks::EXHIBIT,
        calibration::EXHIBIT,
        conformal::EXHIBIT,
        beta::EXHIBIT,
        orders::EXHIBIT,
        gaussian::EXHIBIT,
        text::EXHIBIT,
        law::EXHIBIT,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tables;
    use crate::{Claim, Context, Verdict};
    use fuld_sample::{SampleRequest, read_config};
    use std::collections::HashSet;
    use tempfile::TempDir;

    /// Claims, figures and text are functions of the tables alone: those computed from the files are those computed right
    /// after the experiment.
    #[test]
    fn every_exhibit_survives_its_files() {
        for exhibit in exhibits().into_iter().filter(|exhibit| !exhibit.trains && exhibit.id != "text") {
            let folder = TempDir::new().unwrap();
            let context = Context::new(3, folder.path());
            let tables = (exhibit.experiment)(&context).unwrap();
            tables.write(folder.path()).unwrap();
            let read = Tables::read(folder.path()).unwrap();
            let claims = (exhibit.claims)(&tables).unwrap();
            assert_eq!(claims, (exhibit.claims)(&read).unwrap(), "{}", exhibit.id);
            let figures = |tables: &Tables| -> Vec<String> {
                let figures = (exhibit.figures)(tables).unwrap();
                figures.iter().map(|figure| figure.caption.clone() + &figure.figure.svg()).collect()
            };
            assert!(!figures(&tables).is_empty() && figures(&tables) == figures(&read), "{}", exhibit.id);
            assert_eq!((exhibit.shown)(&tables).unwrap(), (exhibit.shown)(&read).unwrap(), "{}", exhibit.id);
            assert_eq!((exhibit.text)(&tables).unwrap(), (exhibit.text)(&read).unwrap(), "{}", exhibit.id);
            check(exhibit.id, &claims);
            check_runs(exhibit.id, &context, folder.path());
        }
    }

    /// Claims have different ids, and those that do not hold say why.
    fn check(exhibit: &str, claims: &[Claim]) {
        let ids: HashSet<&str> = claims.iter().map(|claim| claim.id.as_str()).collect();
        assert!(!claims.is_empty() && ids.len() == claims.len(), "{exhibit}: {ids:?}");
        for claim in claims {
            let has_reason = claim.why.as_ref().is_some_and(|why| why.len() > 10);
            assert_eq!(has_reason, claim.verdict != Verdict::Holds, "{exhibit}: {claim:?}");
        }
    }

    /// `fuld sample --config` reads the settings of all chains.
    fn check_runs(exhibit: &str, context: &Context<'_>, folder: &std::path::Path) {
        crate::exhibit::write_runs(folder, context).unwrap();
        for (number, run) in (1..).zip(context.runs()) {
            let file = folder.join(format!("runs/{number}.toml"));
            let read = read_config(&file, &SampleRequest::default()).unwrap();
            assert_eq!(read, run, "{exhibit}");
            assert!(read.complete().is_ok(), "{exhibit}");
        }
    }

    #[test]
    fn ids_are_unique() {
        let all = exhibits();
        let ids: HashSet<&str> = all.iter().map(|exhibit| exhibit.id).collect();
        assert_eq!(ids.len(), all.len());
    }
}
