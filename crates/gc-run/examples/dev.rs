use std::path::*;
use yamba_gc::*;
use yamba_gc_run::*;
fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    let jvm = Jvm::find(Some(Path::new(&a[1]))).unwrap();
    let cache = Path::new("/tmp/gc/cache");
    let all = |jvm: &Jvm| -> costs::Costs {
        serde_json::from_str(&std::fs::read_to_string(costs_path(cache, jvm)).unwrap()).unwrap()
    };
    let limits = LIMITS;
    match a[0].as_str() {
        "char" => {
            let cs: Vec<_> = a[2]
                .split(',')
                .map(|n| Collector::named(n).unwrap())
                .collect();
            let c = characterise(&jvm, &cs, &costs_path(cache, &jvm), true, &mut |c| {
                eprintln!("{c:?}")
            })
            .unwrap();
            println!("{}", serde_json::to_string_pretty(&c).unwrap());
        }
        "profile" => {
            let c = JavaCommand::of(&a[4..]).unwrap();
            let d = profile(
                &jvm,
                &all(&jvm).collectors["serial"],
                &c,
                a[3].parse().unwrap(),
                limits,
            )
            .unwrap();
            std::fs::write(&a[2], serde_json::to_string(&d).unwrap()).unwrap();
            println!(
                "{} MB allocated, {} censuses, max live {:.1} MB, mutator {:.2}s, gc {:.2}s",
                d.allocated_bytes / 1e6,
                d.censuses.len(),
                d.censuses
                    .iter()
                    .map(|c| c.live_bytes())
                    .fold(0.0, f64::max)
                    / 1e6,
                d.mutator_ns / 1e9,
                d.gc_cpu_ns / 1e9
            );
        }
        "predict" => {
            // jdk file collectors heaps reps [-- command]
            let d: demand::Demand =
                serde_json::from_str(&std::fs::read_to_string(&a[2]).unwrap()).unwrap();
            let cs: Vec<_> = a[3]
                .split(',')
                .map(|n| Collector::named(n).unwrap())
                .collect();
            let all = all(&jvm);
            println!("{:?}", texture::texture(&d));
            let reps: usize = a[5].parse().unwrap();
            let cmd = JavaCommand {
                arguments: d.command.clone(),
                removed: vec![],
            };
            for c in cs {
                for h in a[4].split(',') {
                    let h: u64 = h.parse::<u64>().unwrap() << 20;
                    let p = predict::predict(&d, c, &all.collectors[c.name()], jvm.major(), h);
                    {
                        let st = policy::Setting {
                            demand: &d,
                            survival: demand::Survival::of(&d),
                            heap_bytes: h as f64,
                            jvm_major: jvm.major(),
                            cycle_ns: (all.collectors[c.name()].cycle_cpu.fixed_ns, 1.0),
                            allocation_factor: 1.0,
                        };
                        if let Ok(s) = policy::simulate(c, &st) {
                            let f = |k: log::Kind| {
                                let v: Vec<_> = s.iter().filter(|x| x.kind == k).collect();
                                format!(
                                    "{k:?} {} {:.1}MB ",
                                    v.len(),
                                    v.iter().map(|x| x.bytes).sum::<f64>() / 1e6,
                                )
                            };
                            println!(
                                "  simulated {} {} {} {}",
                                f(log::Kind::Young),
                                f(log::Kind::Mixed),
                                f(log::Kind::Full),
                                f(log::Kind::Cycle)
                            );
                        }
                    }
                    let m: Vec<_> = (0..reps)
                        .map(|_| measure(&jvm, &cmd, c, h, limits))
                        .collect();
                    match p {
                        Err(e) => println!("{c:?} {h}: {e} {m:?}"),
                        Ok(p) => {
                            let med = |f: fn(&Measured) -> f64| {
                                let mut v: Vec<f64> =
                                    m.iter().filter_map(|m| m.as_ref().ok().map(f)).collect();
                                v.sort_by(f64::total_cmp);
                                if v.is_empty() {
                                    f64::NAN
                                } else {
                                    v[v.len() / 2]
                                }
                            };
                            let one = |n: &str, f: predict::Figure, m: f64, s: f64| {
                                print!(
                                    " {n} {:.1} vs {:.1} ({:+.0}%)",
                                    f.predicted * s,
                                    m * s,
                                    (f.predicted / m - 1.0) * 100.0
                                )
                            };
                            print!("{c:?} {}M:", h >> 20);
                            one("n", p.collections, med(|m| m.collections), 1.0);
                            one(
                                "cyc",
                                p.concurrent_cycles,
                                med(|m| m.concurrent_cycles),
                                1.0,
                            );
                            one("cpu", p.gc_cpu_ns, med(|m| m.gc_cpu_ns), 1e-6);
                            one("pause", p.pause_total_ns, med(|m| m.pause_total_ns), 1e-6);
                            one("max", p.pause_longest_ns, med(|m| m.pause_longest_ns), 1e-6);
                            println!();
                            if let Some(Err(e)) = m.first() {
                                println!("   {e}");
                            }
                        }
                    }
                }
            }
        }
        _ => {}
    }
}
