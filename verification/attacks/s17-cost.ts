import { median } from '../bench/measure.ts';
import type { Attack, Finding, Target } from './attack.ts';
import { searchGrowth } from './cost/growth.ts';
import { type Input, checkStatuses } from './cost/input.ts';
import { expensiveInputs } from './cost/inputs.ts';
import { probeDuring } from './cost/probe.ts';
import type { ProbeReport } from './cost/probe-worker.ts';
import { openWorld, type World } from './cost/world.ts';
import { runTests } from './run-tests.ts';

/**
 * `COST_ONLY=preview npm run attacks -- --only S17` sends only the inputs whose sender or name contains this text. `COST_ONLY=growth` only
 * searches for worse inputs, and `growth: Liquid` only among these.
 */
const ONLY = process.env['COST_ONLY'] ?? '';
const GROWTH = 'growth';
const AT_ONCE = 30;
const RUNS = 3;
/** Work of other projects may delay neighbors, but never lock them out. */
const EVENT_MAX_MS = 5_000;
const STATEMENT_LEFT_MS = 1_000;
/** Thirty times ten megabytes of records take about a minute. */
const DRAINED_WITHIN_MS = 300_000;

export const s17: Attack = {
  id: 'S17',
  title: 'cost: the most expensive requests within the limits, thirty at once, from each kind of sender',
  passLine:
    'every request gets one of its expected statuses; GET /livez answers within 250 ms (100 ms beside templates). Another project’s events are accepted and drafted; no process ends. No statement outlives its request by more than a second, and counted work grows with an exponent of at most 1.3',
  quick: false,
  async run(target) {
    if (ONLY.startsWith(GROWTH)) return searchGrowth(target, ONLY);
    const inputs = expensiveInputs().filter(({ sender, name }) => `${sender}: ${name}`.includes(ONLY));
    const findings = await attackAll(target, inputs);
    if (ONLY !== '') return findings;
    return [...findings, ...(await searchGrowth(target)), ...(await runTests(target, TESTS))];
  },
};

async function attackAll(target: Target, inputs: Input[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const world = await openWorld(target);
  const pid = world.victim.pid();
  // The first requests of a process compile what they run.
  await probeDuring(taskOf(world), () => pause(3_000));
  for (const input of inputs) findings.push(...(await attack(target, world, input)));
  if (world.victim.pid() !== pid || !isAlive(pid))
    findings.push({ severity: 'high', title: 'the server process ended', evidence: world.victim.log() });
  return findings;
}

const TESTS = [
  'packages/server/src/platform/http/body.test.ts',
  'packages/server/src/modules/rendering/render.test.ts',
  'packages/server/src/modules/inbound/mail/reader.test.ts',
];

async function attack(target: Target, world: World, input: Input): Promise<Finding[]> {
  const reports: ProbeReport[] = [];
  const statuses = new Map<number, number>();
  const problems = new Set<string>();
  await input.prepare?.(world);
  await drained(world);
  for (let run = 0; run < RUNS; run += 1) {
    const report = await probeDuring(taskOf(world), async () => {
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => input.send(world)));
      for (const status of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      for (const problem of (await input.settle?.(world)) ?? []) problems.add(problem);
    });
    target.count('requests', AT_ONCE);
    reports.push(report);
  }
  const livezMs = median(reports.map((report) => report.livezMs));
  const eventMs = median(reports.map((report) => report.eventMs));
  const answered = [...statuses].map(([status, times]) => `${times} × ${status}`).join(', ');
  const inputName = `${input.sender}: ${input.name}`;
  target.note(
    `${inputName}: worst wait of /livez ${livezMs.toFixed(0)} ms, of an event ${eventMs.toFixed(0)} ms; answered ${answered}`,
  );
  const findings: Finding[] = [];
  const addFinding = (title: string, evidence = ''): void =>
    void findings.push({ severity: 'high', title: `${inputName}: ${title}`, evidence });
  if (livezMs > input.livezMaxMs)
    addFinding(`GET /livez waits ${livezMs.toFixed(0)} ms; at most ${input.livezMaxMs} ms are allowed`);
  if (eventMs > EVENT_MAX_MS) addFinding(`an event of another project waits ${eventMs.toFixed(0)} ms`);
  for (const failure of new Set(reports.flatMap((report) => report.failures)))
    addFinding(`a request beside it fails (${failure})`);
  for (const problem of [...checkStatuses(input, statuses), ...problems]) addFinding(problem);
  if (!isAlive(world.victim.pid())) {
    addFinding('the server process ended', world.victim.log().slice(-1_000));
    await world.victim.start();
  }
  findings.push(...(await statementsLeft(world, inputName)));
  return findings;
}

/** Waits until the records of the last input are processed, so that the delays of one input are not measured beside the next. */
async function drained({ victim }: World): Promise<void> {
  for (const end = Date.now() + DRAINED_WITHIN_MS; Date.now() < end; await pause(250)) {
    const { rows } = await victim.database((db) => db.query('SELECT FROM ingest_queue LIMIT 1'));
    if (rows.length === 0) return;
  }
  throw new Error('the ingest queue did not become empty');
}

function taskOf({ victim, neighbor }: World): { port: number; secret: string } {
  return { port: victim.port, secret: neighbor };
}

/** Finds statements that still run one second after every request was answered. */
async function statementsLeft({ victim }: World, inputName: string): Promise<Finding[]> {
  await pause(STATEMENT_LEFT_MS);
  const { rows } = await victim.database((db) =>
    db.query<{ query: string }>(LEFT, [STATEMENT_LEFT_MS / 1_000]),
  );
  return rows.map(({ query }) => ({
    severity: 'high',
    title: `${inputName}: a statement continues after its request was answered`,
    evidence: query.slice(0, 500),
  }));
}

const LEFT = `
  SELECT query FROM pg_stat_activity
  WHERE state = 'active' AND backend_type IN ('client backend', 'parallel worker') AND pid <> pg_backend_pid()
    AND query ILIKE 'select%' AND query_start < now() - $1 * interval '1 second'`;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
