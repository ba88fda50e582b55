//! Known answers of the HBench thesis, chapter 4: applications on Java virtual machines.

use crate::costs::{Cost, Costs, Measured};
use crate::predict;
use crate::vector::{SCHEMA, Use, Vector};

const FOR_NAME: &str = "java.lang.Class.forName(String)";
const LOAD_CLASS: &str = "java.lang.ClassLoader.loadClass(String)";
const READ_TEXT: &str = "java.io.BufferedReader.read(char[],int,int)";
const CONNECT: &str = "java.net.Socket.<init>(InetAddress,int)";
const READ_SOCKET: &str = "java.net.SocketInputStream.read(byte[],int,int)";

fn vector(application: &str, uses: &[(&str, f64)]) -> Vector {
    let uses = uses.iter().map(|(name, count)| Use {
        name: (*name).to_owned(),
        size: None,
        count: *count,
        errors: None,
        started: None,
        waited_ns: None,
        time_ns: None,
    });
    Vector {
        schema: SCHEMA.to_owned(),
        application: application.to_owned(),
        unit: "run".to_owned(),
        units: None,
        command: Vec::new(),
        load: None,
        units_from: None,
        traced: None,
        user_ns: None,
        kernel_ns: None,
        started_user_ns: None,
        clock_reads: None,
        elapsed: None,
        user_work: None,
        primitives: uses.collect(),
    }
}

/// The seconds that the application takes with these costs in us.
fn predicted_s(vector: &Vector, costs_us: &[f64]) -> f64 {
    let mut costs = Costs::default();
    for (used, us) in vector.primitives.iter().zip(costs_us) {
        let mut measured = Measured::default();
        let cost = Cost { ns: us * 1e3, interval_ns: [us * 1e3; 2] };
        measured.curve.add(None, cost);
        costs.primitives.insert(used.name.clone(), measured);
    }
    predict(vector, "virtual machine", &costs).unwrap().predicted_ns / 1e9
}

/// Table 4-3. The machines are JDK 1.2.2 and SDK 3.2 on two Windows NT, and two JDK on Solaris.
#[test]
fn webl_takes_the_products_of_table_4_3() {
    let webl = vector("WebL", &[(FOR_NAME, 80.0), (LOAD_CLASS, 121.0), (READ_TEXT, 32768.0)]);
    let machines = [
        ([5309.944, 4564.824, 6.897], 1.203),
        ([3011.411, 2710.269, 0.317], 0.579),
        ([4155.065, 3961.282, 5.108], 0.979),
        ([2281.390, 2053.251, 0.244], 0.439),
        ([2264.093, 2037.331, 0.195], 0.434),
        ([2487.306, 2145.458, 0.139], 0.463),
    ];
    for (costs_us, seconds) in machines {
        let found = predicted_s(&webl, &costs_us);
        assert!((found - seconds).abs() < 0.0006, "{found} {seconds}");
    }
}

/// Table 4-4.
#[test]
fn mercator_takes_the_products_of_table_4_4() {
    let mercator = vector("Mercator", &[(CONNECT, 19525.0), (READ_SOCKET, 147_550_208.0)]);
    let machines = [
        ([2171.552, 0.210], 73.4),
        ([2575.459, 0.214], 81.9),
        ([826.780, 0.262], 54.8),
        ([660.711, 0.254], 50.4),
    ];
    for (costs_us, seconds) in machines {
        let found = predicted_s(&mercator, &costs_us);
        assert!((found - seconds).abs() < 0.06, "{found} {seconds}");
    }
}
