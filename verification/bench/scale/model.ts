import type { CpuCost } from '../measure.ts';
import {
  acceptCost,
  addCosts,
  type Calibration,
  housekeepingCost,
  processingCost,
  scaleCost,
} from './costs.ts';
import type { Inputs } from './inputs.ts';

export type Load = { eventsPerDay: number; projects: number };

/** CPU times in microseconds, and bytes on the disk. */
type Measurements = Calibration &
  Inputs & {
    email: CpuCost;
    webhook: CpuCost;
    eventBytes: number;
    dedupeBytes: number;
    idempotencyBytes: number;
    userBytes: number;
    draftBytes: number;
    emailBytes: number;
    outcomeBytes: number;
    webhookBytes: number;
    /** Write-ahead log of an event of the whole path. */
    logBytes: number;
    /** The highest rate of one project, because one worker at a time processes it. */
    projectEventsPerSecond: number;
  };

/** What an operator decides or expects. Each is a plain number, so that it can be replaced by one's own. */
type Assumptions = {
  peakOverMean: number;
  /** The share of a core that is busy at the peak. */
  busyShare: number;
  eventsPerUserPerDay: number;
  audienceChangesPerEvent: number;
  draftsPerEvent: number;
  webhooksPerEmail: number;
  outcomesPerEmail: number;
  retentionDays: number;
  /** The share of all events that the largest project sends. */
  largestProject: number;
  /** The time between two batches of a project. Its events in that time are processed together. */
  gatherSeconds: number;
};

type Prices = {
  vcpuHour: number;
  diskGibMonth: number;
  diskMibPerSecondMonth: number;
  diskMibPerSecondFree: number;
  backupGibMonth: number;
  trafficGib: number;
  thousandEmails: number;
};

/** The limits of one installation, which is one PostgreSQL with its API processes and workers. */
type Capacity = { databaseCores: number; logBytesPerSecond: number; diskBytes: number };

export type Model = {
  measurements: Measurements;
  assumptions: Assumptions;
  prices: Prices;
  capacity: Capacity;
};

/** `share`: how much of a limit one installation needs. */
type Limit = { name: string; share: number };
type Cores = { api: number; worker: number; postgres: number };

export type Installation = {
  peakPerSecond: number;
  /** CPU time of an event on its whole path, with everything that it causes on average. */
  cost: Cores;
  cores: Cores;
  logBytesPerSecond: number;
  diskBytes: number;
  /** The limits that dividing the projects among installations moves, the nearest first. */
  limits: Limit[];
};

export type Plan = {
  /** One installation with the whole load, whether or not it can carry it. */
  alone: Installation;
  /** The limits of `alone` and that of the largest project, the nearest first. */
  limits: Limit[];
  installations: number;
  /** One of the installations. */
  each: Installation;
  /** Machines of all installations. */
  machines: { vcpus: number; count: number }[];
  dollarsPerMonth: number;
  emailDollarsPerMonth: number;
};

const DAY_SECONDS = 86_400;
const HOUR_MICROS = 3_600e6;
const MONTH_DAYS = 30.4;
const MONTH_HOURS = 730;
const GIB = 1024 ** 3;
const MIB = 1024 ** 2;

/** Returns the smallest number of installations that carries the load, and its machines and money. */
export function plan(model: Model, load: Load): Plan {
  const alone = installationOf(model, load);
  let [installations, each] = [1, alone];
  // An event costs less if its installation has fewer projects, so the number cannot be divided out.
  while ((each.limits[0]?.share ?? 0) > 1) {
    installations += 1;
    each = installationOf(model, {
      eventsPerDay: load.eventsPerDay / installations,
      projects: Math.max(1, load.projects / installations),
    });
  }
  const machines = machinesOf(each).map(({ vcpus, count }) => ({ vcpus, count: count * installations }));
  return {
    alone,
    limits: nearestFirst([...alone.limits, largestProjectLimit(model, alone)]),
    installations,
    each,
    machines,
    ...moneyOf(model, { load, installations, each, machines }),
  };
}

function nearestFirst(limits: Limit[]): Limit[] {
  return limits.toSorted((a, b) => b.share - a.share);
}

/** More installations do not move this limit, because a project is in one of them. */
function largestProjectLimit({ measurements, assumptions }: Model, { peakPerSecond }: Installation): Limit {
  const perSecond = peakPerSecond * assumptions.largestProject;
  return {
    name: 'the worker of the largest project',
    share: perSecond / measurements.projectEventsPerSecond,
  };
}

function installationOf(model: Model, load: Load): Installation {
  const { measurements, assumptions, capacity } = model;
  const peakPerSecond = (load.eventsPerDay / DAY_SECONDS) * assumptions.peakOverMean;
  const cost = costOfEvent(model, load, peakPerSecond);
  const coresOf = (micros: number): number => (peakPerSecond * micros) / 1e6 / assumptions.busyShare;
  const workers = Math.max(WORKERS_MIN, Math.ceil(coresOf(cost.worker)));
  const ofWorker = housekeepingCost(measurements.housekeeping, load.projects);
  const housekeeping = scaleCost(ofWorker, workers / HOUR_MICROS);
  const cores = {
    api: coresOf(cost.api),
    worker: coresOf(cost.worker) + housekeeping.beckon,
    postgres: coresOf(cost.postgres) + housekeeping.postgres,
  };
  const logBytesPerSecond = peakPerSecond * measurements.logBytes;
  const diskBytes = storedBytes(model, load);
  const limits = nearestFirst([
    { name: 'cores of PostgreSQL', share: cores.postgres / capacity.databaseCores },
    { name: 'write-ahead log', share: logBytesPerSecond / capacity.logBytesPerSecond },
    { name: 'disk', share: diskBytes / capacity.diskBytes },
  ]);
  return { peakPerSecond, cost, cores, logBytesPerSecond, diskBytes, limits };
}

const WORKERS_MIN = 2;

function costOfEvent(model: Model, { projects }: Load, peakPerSecond: number): Cores {
  const { measurements, assumptions } = model;
  const accept = costOfAccepting(model, peakPerSecond, peakPerSecond / projects);
  const each = (peakPerSecond * assumptions.gatherSeconds) / projects;
  const { draftsPerEvent, audienceChangesPerEvent, webhooksPerEmail } = assumptions;
  const worker = addCosts(
    processingCost(measurements, { each, projects }),
    measurements.fiveAudiences,
    scaleCost(measurements.audienceChange, audienceChangesPerEvent),
    scaleCost(addCosts(measurements.draft, measurements.email), draftsPerEvent),
    scaleCost(measurements.webhook, draftsPerEvent * webhooksPerEmail),
  );
  return { api: accept.beckon, worker: worker.beckon, postgres: accept.postgres + worker.postgres };
}

/** Requests of one project are spread over the API processes, so each of them remembers less of it than a single one would. */
function costOfAccepting(
  { measurements, assumptions }: Pick<Model, 'measurements' | 'assumptions'>,
  perSecond: number,
  perSecondOfProject: number,
): CpuCost {
  const processesFor = ({ beckon }: CpuCost): number =>
    Math.max(1, Math.ceil((perSecond * beckon) / 1e6 / assumptions.busyShare));
  const processes = processesFor(measurements.acceptFirst);
  return acceptCost(measurements, perSecondOfProject / processes);
}

function storedBytes({ measurements: m, assumptions: a }: Model, { eventsPerDay, projects }: Load): number {
  const events = eventsPerDay * a.retentionDays;
  const users = eventsPerDay / a.eventsPerUserPerDay;
  const perDraft =
    m.draftBytes + m.emailBytes + a.outcomesPerEmail * m.outcomeBytes + a.webhooksPerEmail * m.webhookBytes;
  return (
    projects * m.projectBytes +
    users * m.userBytes +
    events * (m.eventBytes + m.dedupeBytes) +
    // Kept for 24 hours.
    eventsPerDay * m.idempotencyBytes +
    events * a.draftsPerEvent * perDraft
  );
}

const SIZES = [2, 4, 8, 16, 32, 48, 64];
/** One machine runs everything if that needs no more cores than this. */
const ONE_MACHINE_CORES = 8;
const BECKON_MACHINE_VCPUS = 8;
/** A machine that fails, or is restarted, leaves at least one. */
const BECKON_MACHINES_MIN = 2;

/** Each database has a standby of its size. */
function machinesOf({ cores }: Installation): Plan['machines'] {
  const beckon = cores.api + cores.worker;
  if (beckon + cores.postgres <= ONE_MACHINE_CORES)
    return [{ vcpus: sizeFor(beckon + cores.postgres), count: 2 }];
  const count = Math.max(BECKON_MACHINES_MIN, Math.ceil(beckon / BECKON_MACHINE_VCPUS));
  return [
    { vcpus: sizeFor(cores.postgres), count: 2 },
    { vcpus: BECKON_MACHINE_VCPUS, count },
  ];
}

function sizeFor(cores: number): number {
  return SIZES.find((size) => size >= cores) ?? SIZES.at(-1) ?? 0;
}

type Sized = Pick<Plan, 'installations' | 'each' | 'machines'> & { load: Load };

/** Machines, the disks of the databases and their standbys, a full backup, and the log that is sent to the standbys. */
function moneyOf(
  { prices, assumptions }: Model,
  { load, installations, each, machines }: Sized,
): Pick<Plan, 'dollarsPerMonth' | 'emailDollarsPerMonth'> {
  const vcpus = machines.reduce((sum, { vcpus: ofEach, count }) => sum + ofEach * count, 0);
  // What is in the log is written once more when tables are written.
  const writtenMib = (2 * each.logBytesPerSecond) / MIB;
  const throughput = Math.max(0, writtenMib - prices.diskMibPerSecondFree) * prices.diskMibPerSecondMonth;
  const diskGib = each.diskBytes / GIB;
  const logGib = (each.logBytesPerSecond / assumptions.peakOverMean / GIB) * DAY_SECONDS * MONTH_DAYS;
  const perInstallation =
    2 * diskGib * prices.diskGibMonth +
    2 * throughput +
    diskGib * prices.backupGibMonth +
    logGib * prices.trafficGib;
  const emails = load.eventsPerDay * MONTH_DAYS * assumptions.draftsPerEvent;
  return {
    dollarsPerMonth: vcpus * prices.vcpuHour * MONTH_HOURS + installations * perInstallation,
    emailDollarsPerMonth: (emails / 1_000) * prices.thousandEmails,
  };
}
