import type { CpuCost } from '../measure.ts';
import { micros, percent, round, show } from '../print.ts';
import { type Figures, calibrate, measureMany, predict, type RunSizes } from './run.ts';
import type { Calibration } from './costs.ts';
import { type InputSizes, measureInputs } from './inputs.ts';

const FULL: RunSizes = {
  calibration: { projects: 1_000, keysPerProject: 20, sharedBy: 4, rounds: 5 },
  predicted: { projects: 100_000, each: 2 },
  seconds: 10,
  idleSeconds: 30,
};
const QUICK: RunSizes = {
  calibration: { projects: 100, keysPerProject: 120, sharedBy: 4, rounds: 1 },
  predicted: { projects: 2_000, each: 2 },
  seconds: 2,
  idleSeconds: 2,
};

const PARTS = ['inputs', 'run'];
const FULL_INPUTS: InputSizes = { records: 10_000, runs: 3 };
const QUICK_INPUTS: InputSizes = { records: 1_000, runs: 1 };

/** A prediction that is further off than this is reported as missed. */
const TOLERANCE = 0.25;

/**
 * `npm run bench -- scale [inputs | run] [--quick]`
 *
 * `run` predicts the costs of many projects from those of few, and then measures them. `inputs` measures what an event causes in a project:
 * an audience change and a draft.
 */
export async function benchScale(args: string[]): Promise<void> {
  const quick = args.includes('--quick');
  const names = args.filter((arg) => !arg.startsWith('--'));
  for (const name of names)
    if (!PARTS.includes(name)) throw new Error(`There is no part "${name}": ${PARTS.join(', ')}`);
  const isSelected = (name: string): boolean => names.length === 0 || names.includes(name);
  if (isSelected('inputs')) await showInputs(quick ? QUICK_INPUTS : FULL_INPUTS);
  if (isSelected('run')) await showRun(quick ? QUICK : FULL);
}

async function showInputs(sizes: InputSizes): Promise<void> {
  await show('Costs of what an event causes', ['', 'Beckon', 'PostgreSQL'], async () => {
    const { fiveAudiences, audienceChange, draft } = await measureInputs(sizes);
    return [
      ['Evaluate five audiences, of which none changes', ...cells(fiveAudiences)],
      ['A user joins or leaves an audience', ...cells(audienceChange)],
      ['A rule starts a run with a draft', ...cells(draft)],
    ];
  });
}

async function showRun(sizes: RunSizes): Promise<void> {
  const { projects: few, keysPerProject, sharedBy } = sizes.calibration;
  const { projects: many, each } = sizes.predicted;
  const calibration = await calibrate(sizes);
  await show(`Costs with ${round(few)} projects`, ['', 'Beckon', 'PostgreSQL'], () =>
    Promise.resolve(calibrationRows(calibration, { keys: few * keysPerProject, sharedBy })),
  );
  const predicted = predict(calibration, sizes.predicted);
  await show(`Prediction for ${round(many)} projects, printed before the run`, ['', 'predicted'], () =>
    Promise.resolve(figureRows(predicted, each).map(([name, value]) => [name, value.text])),
  );
  const measured = await measureMany(sizes);
  await show(
    `${round(many)} projects, predicted from ${round(few)} (target: within ${percent(TOLERANCE)})`,
    ['', 'predicted', 'measured', 'measured / predicted', 'within the target'],
    () => Promise.resolve(comparison(predicted, measured, each)),
  );
  await show(`${round(many)} projects, not predicted`, ['', 'measured'], () =>
    Promise.resolve([
      ['single events accepted a second, each of another project', round(measured.acceptedPerSecond)],
      [`events processed a second, ${each} of each project`, round(measured.processedPerSecond)],
      ['CPU time of a minute without load, worker and PostgreSQL', `${measured.idleSeconds.toFixed(2)} s`],
    ]),
  );
}

function calibrationRows(
  costs: Calibration,
  { keys, sharedBy }: { keys: number; sharedBy: number },
): string[][] {
  return [
    ['Accept a single event, API key remembered', ...cells(costs.acceptKnownKey)],
    [`Accept a single event, one of ${round(keys)} keys in turn`, ...cells(costs.acceptUnknownKey)],
    ['Process an event, alone in its project', ...cells(costs.eventAlone)],
    [`Process an event, one of ${sharedBy} of its project`, ...cells(costs.eventShared)],
    ['Disk space of a project without data', '', `${round(costs.projectBytes)} B`],
  ];
}

function cells({ beckon, postgres }: CpuCost): string[] {
  return [micros(beckon), micros(postgres)];
}

type Figure = { value: number; text: string };

function figureRows(figures: Figures, each: number): [string, Figure][] {
  const time = (value: number): Figure => ({ value, text: micros(value) });
  const megabytes = figures.storedBytes / 1e6;
  return [
    ['Accept a single event: API', time(figures.accept.beckon)],
    ['Accept a single event: PostgreSQL', time(figures.accept.postgres)],
    [`Process an event, ${each} of each project: worker`, time(figures.process.beckon)],
    [`Process an event, ${each} of each project: PostgreSQL`, time(figures.process.postgres)],
    ['Disk space of all projects, without data', { value: megabytes, text: `${round(megabytes)} MB` }],
  ];
}

function comparison(predicted: Figures, measured: Figures, each: number): string[][] {
  const found = figureRows(measured, each);
  return figureRows(predicted, each).map(([name, { value, text }], i) => {
    const figure = found[i]?.[1] ?? { value: Number.NaN, text: '' };
    const quotient = figure.value / value;
    const isWithin = Math.abs(quotient - 1) <= TOLERANCE;
    return [name, text, figure.text, quotient.toFixed(2), isWithin ? 'yes' : 'no'];
  });
}
