//! The exhibits, in the order of the report.

use crate::exhibit::Entry;
use crate::{
    averages, barriers, beta, conformal, fields, gaussian, guard, invariant, iterates, law, levy,
    mixing, networks, orders, overdamped, systems,
};

/// Returns all exhibits.
pub fn exhibits() -> Vec<Entry> {
    vec![
        Entry::of::<levy::Fig1>(),
        Entry::of::<systems::Systems>(),
        Entry::of::<fields::Fig2>(),
        Entry::of::<averages::Averages>(),
        Entry::of::<invariant::Fig3>(),
        Entry::of::<iterates::Fig4>(),
        Entry::of::<overdamped::Overdamped>(),
        Entry::of::<networks::Networks>(),
        Entry::of::<guard::Guard>(),
        Entry::of::<conformal::Conformal>(),
        Entry::of::<beta::Betas>(),
        Entry::of::<orders::Orders>(),
        Entry::of::<gaussian::Gaussian>(),
        Entry::of::<mixing::Mixing>(),
        Entry::of::<barriers::Barriers>(),
        Entry::of::<law::Law>(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Context, Interrupted};
    use crate::specification::Record;
    use crate::table::Tables;
    use crate::{Claim, Verdict};
    use fuld_sample::{SampleRequest, read_config};
    use std::collections::HashSet;
    use std::path::Path;
    use tempfile::TempDir;

    /// Claims, figures and text are functions of the tables alone: those computed from the files
    /// are those computed right after the experiment. An eighth of the chains is enough to see
    /// this.
    #[test]
    fn every_exhibit_survives_its_files() {
        for exhibit in exhibits().into_iter().filter(|exhibit| !exhibit.trains) {
            let (id, folder) = (exhibit.id, TempDir::new().unwrap());
            let context = Context { fewer_chains: 8, ..Context::new(3, folder.path()) };
            let tables = (exhibit.experiment)(&context).unwrap();
            tables.write(folder.path()).unwrap();
            let read = Tables::read(folder.path(), &tables.files()).unwrap();
            assert!(read == tables && read.checksum() == tables.checksum(), "{id}");
            let present = |tables: &Tables| {
                let record = Record::new(
                    String::new(),
                    tables,
                    exhibit.specification(id, &context).unwrap(),
                );
                (exhibit.present)(String::new(), tables, record).unwrap()
            };
            let (made, kept) = (present(&tables), present(&read));
            assert_eq!(made.claims, kept.claims, "{id}");
            let [made_figures, kept_figures] = [&made, &kept].map(|presentation| -> Vec<String> {
                let figures = presentation.figures.iter();
                figures.map(|figure| figure.caption.clone() + &figure.figure.svg()).collect()
            });
            assert!(!made_figures.is_empty() && made_figures == kept_figures, "{id}");
            assert_eq!((&made.tables, &made.text), (&kept.tables, &kept.text), "{id}");
            check(id, &made.claims);
            check_runs(id, &context, folder.path());
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
    fn check_runs(exhibit: &str, context: &Context<'_>, folder: &Path) {
        context.write_runs(folder).unwrap();
        for (number, run) in (1..).zip(context.runs()) {
            let file = folder.join(format!("runs/{number}.toml"));
            let read = read_config(&file, &SampleRequest::default()).unwrap();
            assert_eq!(read, run, "{exhibit}");
            assert!(read.complete().is_ok(), "{exhibit}");
        }
    }

    /// Exhibits also stop where they do not sample, and leave no result.
    #[test]
    fn every_exhibit_stops_when_requested() {
        let folder = TempDir::new().unwrap();
        let context = Context::new(3, folder.path());
        context.stop.request();
        for exhibit in exhibits().into_iter().filter(|exhibit| !exhibit.trains) {
            let error = (exhibit.experiment)(&context).map(drop).unwrap_err();
            assert!(error.is::<Interrupted>(), "{}: {error}", exhibit.id);
        }
    }

    #[test]
    fn ids_are_unique() {
        let all = exhibits();
        let ids: HashSet<&str> = all.iter().map(|exhibit| exhibit.id).collect();
        assert_eq!(ids.len(), all.len());
    }
}
