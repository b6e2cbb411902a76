import type { CpuCost } from '../measure.ts';
import { micros, round } from '../print.ts';
import { acceptCost, addCosts, type Calibration, type Housekeeping, processingCost } from './costs.ts';

/** The figures of a number of projects, predicted or measured. */
export type Figures = {
  accept: CpuCost;
  process: CpuCost;
  housekeeping: Housekeeping;
  storedBytes: number;
};

/** States the figures before the run. Each project sends its next request after all others, so every request is a first one. */
export function predict(
  calibration: Calibration,
  { projects, each }: { projects: number; each: number },
): Figures {
  return {
    accept: acceptCost(calibration, 0),
    process: processingCost(calibration, { each, projects }),
    housekeeping: calibration.housekeeping,
    storedBytes: projects * calibration.projectBytes,
  };
}

/** A prediction that is further off than this is reported as missed. */
export const TOLERANCE = 0.25;

type Figure = { value: number; text: string };

/** The figures that the model predicts, with `each` events of each project in the queue. */
export function figureRows(figures: Figures, each: number): [name: string, figure: Figure][] {
  const time = (value: number): Figure => ({ value, text: micros(value) });
  const { history, hourly } = figures.housekeeping;
  const housekeeping = addCosts(history, hourly);
  const megabytes = figures.storedBytes / 1e6;
  return [
    ['Accept a single event: API', time(figures.accept.beckon)],
    ['Accept a single event: PostgreSQL', time(figures.accept.postgres)],
    [`Process an event, ${each} of each project: worker`, time(figures.process.beckon)],
    [`Process an event, ${each} of each project: PostgreSQL`, time(figures.process.postgres)],
    ['An hour of housekeeping for a project: worker', time(housekeeping.beckon)],
    ['An hour of housekeeping for a project: PostgreSQL', time(housekeeping.postgres)],
    ['Disk space of all projects, without data', { value: megabytes, text: `${round(megabytes)} MB` }],
  ];
}

type ComparisonRow = [name: string, predicted: string, measured: string, quotient: string, isWithin: string];

export function predictedAndMeasured(predicted: Figures, measured: Figures, each: number): ComparisonRow[] {
  const found = figureRows(measured, each);
  return figureRows(predicted, each).map(([name, { value, text }], i) => {
    const figure = found[i]?.[1] ?? { value: Number.NaN, text: '' };
    const quotient = figure.value / value;
    const isWithin = Math.abs(quotient - 1) <= TOLERANCE;
    return [name, text, figure.text, quotient.toFixed(2), isWithin ? 'yes' : 'no'];
  });
}
