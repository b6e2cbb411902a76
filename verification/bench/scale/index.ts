import type { CpuCost } from '../measure.ts';
import { micros, percent, round, show } from '../print.ts';
import type { Calibration } from './costs.ts';
import { figureRows, predict, predictedAndMeasured, TOLERANCE } from './figures.ts';
import { writeScalePage } from './page.ts';
import { calibrate, measureMany, type RunSizes } from './run.ts';
import { type InputSizes, measureInputs } from './inputs.ts';

const FULL: RunSizes = {
  remembered: { projects: 1_000, busy: 50, seconds: 5, sharedBy: 4, rounds: 4 },
  unread: { projects: 5_000, passes: 3, rounds: 3 },
  predicted: { projects: 100_000, warmUp: 5_000, firstRequests: 20_000, active: 40_000, each: 2 },
  housekeeping: 200,
  idleSeconds: 10,
};
const QUICK: RunSizes = {
  remembered: { projects: 100, busy: 10, seconds: 2, sharedBy: 4, rounds: 1 },
  unread: { projects: 300, passes: 2, rounds: 1 },
  predicted: { projects: 2_000, warmUp: 300, firstRequests: 1_000, active: 2_000, each: 2 },
  housekeeping: 20,
  idleSeconds: 2,
};

const PARTS = ['inputs', 'run', 'page'];
const FULL_INPUTS: InputSizes = { records: 10_000, runs: 3 };
const QUICK_INPUTS: InputSizes = { records: 1_000, runs: 1 };

/**
 * `npm run bench -- scale [inputs | run | page] [--quick]`
 *
 * `run` predicts the costs of many projects from those of few, and then measures them. `inputs` measures what an event causes in a project:
 * an audience change and a draft. `page` measures nothing: it calculates the tables of docs/explanation/scale-model.md from values.ts.
 */
export async function benchScale(args: string[]): Promise<void> {
  const quick = args.includes('--quick');
  const names = args.filter((arg) => !arg.startsWith('--'));
  for (const name of names)
    if (!PARTS.includes(name)) throw new Error(`There is no part "${name}": ${PARTS.join(', ')}`);
  const isSelected = (name: string): boolean => names.length === 0 || names.includes(name);
  if (isSelected('inputs')) await showInputs(quick ? QUICK_INPUTS : FULL_INPUTS);
  if (isSelected('run')) await showRun(quick ? QUICK : FULL);
  if (names.includes('page')) writeScalePage();
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
  const { projects, each } = sizes.predicted;
  const many = round(projects);
  const calibration = await calibrate(sizes);
  await show('Costs with few projects', ['', 'Beckon', 'PostgreSQL'], () =>
    Promise.resolve(calibrationRows(calibration, sizes)),
  );
  const predicted = predict(calibration, sizes.predicted);
  await show(`Prediction for ${many} projects, printed before the run`, ['', 'predicted'], () =>
    Promise.resolve(figureRows(predicted, each).map(([name, value]) => [name, value.text])),
  );
  const measured = await measureMany(sizes);
  await show(
    `${many} projects, predicted from few (target: within ${percent(TOLERANCE)})`,
    ['', 'predicted', 'measured', 'measured / predicted', 'within the target'],
    () => Promise.resolve(predictedAndMeasured(predicted, measured, each)),
  );
  await show(`${many} projects, not predicted`, ['', 'measured'], () =>
    Promise.resolve([
      ['single events accepted a second, each of another project', round(measured.acceptedPerSecond)],
      [
        `events processed a second, ${each} of each of ${round(sizes.predicted.active)} projects`,
        round(measured.processedPerSecond),
      ],
      ['CPU time of a minute without load, worker and PostgreSQL', `${measured.idleSeconds.toFixed(2)} s`],
    ]),
  );
}

function calibrationRows(costs: Calibration, { remembered, unread }: RunSizes): string[][] {
  const few = `${round(remembered.projects)} projects`;
  const more = `${round(unread.projects)} projects`;
  return [
    [`Accept an event, ${remembered.busy} projects`, ...cells(costs.acceptBusy)],
    [`Accept the first event of a project in ten seconds, ${more}`, ...cells(costs.acceptFirst)],
    [`Process an event, alone of its project, ${few}`, ...cells(costs.eventAlone)],
    [`Process an event, one of ${costs.sharedBy} of its project, ${few}`, ...cells(costs.eventShared)],
    [`Process an event, alone of its project, ${more}`, ...cells(costs.eventUnread)],
    [`Look once for history of a project past its retention, ${few}`, ...cells(costs.housekeeping.history)],
    [`All other jobs that visit each project, per hour, ${few}`, ...cells(costs.housekeeping.hourly)],
    [`Disk space of a project without data, ${few}`, '', `${round(costs.projectBytes)} B`],
  ];
}

function cells({ beckon, postgres }: CpuCost): string[] {
  return [micros(beckon), micros(postgres)];
}
