import { type CpuCost, totalCost } from '../measure.ts';

export function addCosts(...costs: CpuCost[]): CpuCost {
  return {
    beckon: costs.reduce((sum, { beckon }) => sum + beckon, 0),
    postgres: costs.reduce((sum, { postgres }) => sum + postgres, 0),
  };
}

export function scaleCost({ beckon, postgres }: CpuCost, factor: number): CpuCost {
  return { beckon: beckon * factor, postgres: postgres * factor };
}

/** A cost between two others: `second` for a share of 1. */
function mixCosts(first: CpuCost, second: CpuCost, share: number): CpuCost {
  return addCosts(scaleCost(first, 1 - share), scaleCost(second, share));
}

/** What is measured with a few thousand projects at most, to predict any other number. */
export type Calibration = {
  /** Accepting a single event of a project that sends many: its API key and its rate limit are in memory. */
  acceptBusy: CpuCost;
  /** Accepting the first event of a project in ten seconds. It includes everything that is written later for this one request. */
  acceptFirst: CpuCost;
  /** Processing an event that is the only one of its project in a batch, and one of `sharedBy`. */
  eventAlone: CpuCost;
  eventShared: CpuCost;
  sharedBy: number;
  /** Like `eventAlone`, if the worker has to read the definitions of the project. */
  eventUnread: CpuCost;
  /** Visiting a project without data, as each worker does. */
  housekeeping: Housekeeping;
  /** Disk space of a project with one key, four rules and no data. */
  projectBytes: number;
};

export type Housekeeping = {
  /** One visit of the job that deletes what is past its retention. It visits each project once an hour if there is time. */
  history: CpuCost;
  /** The visits of all other jobs in an hour. */
  hourly: CpuCost;
};

/** The job for history works for at most five seconds in a minute. */
const HISTORY_MICROS_PER_HOUR = 60 * 5e6;

/** The cost of an hour for each worker. */
export function housekeepingCost({ history, hourly }: Housekeeping, projects: number): CpuCost {
  const visited = Math.min(projects, HISTORY_MICROS_PER_HOUR / totalCost(history));
  return addCosts(scaleCost(history, visited), scaleCost(hourly, projects));
}

/** How long an API process uses the leased tokens of a project. */
const LEASE_SECONDS = 1;

/**
 * `perSecond`: the requests of one project that reach one API process. A request costs more if it is the first one in a second. For
 * requests at random times, that is a share of 1 / (1 + `perSecond`).
 *
 * A process remembers 10,000 API keys. They need no term of their own: with more keys than that, no process has the time for two requests
 * of each in a second.
 */
export function acceptCost(
  { acceptBusy, acceptFirst }: Pick<Calibration, 'acceptBusy' | 'acceptFirst'>,
  perSecond: number,
): CpuCost {
  return mixCosts(acceptBusy, acceptFirst, 1 / (1 + perSecond * LEASE_SECONDS));
}

/** The number of projects whose definitions a worker remembers. */
export const REMEMBERED_PROJECTS = 2_000;

/**
 * A batch does some work for each of its projects and some for each event. With `each` events of each project, an event costs
 * `event + project / each`. The work for a project is more if the worker does not remember its definitions.
 */
export function processingCost(
  costs: Pick<Calibration, 'eventAlone' | 'eventShared' | 'eventUnread' | 'sharedBy'>,
  { each, projects }: { each: number; projects: number },
): CpuCost {
  const { eventAlone, eventShared, eventUnread, sharedBy } = costs;
  const readShare = Math.max(0, 1 - REMEMBERED_PROJECTS / projects);
  const alone = mixCosts(eventAlone, eventUnread, readShare);
  const projectPart = scaleCost(addCosts(eventAlone, scaleCost(eventShared, -1)), 1 / (1 - 1 / sharedBy));
  const eventPart = addCosts(eventAlone, scaleCost(projectPart, -1));
  // Noise of the measurements may not make a part negative.
  const part = (whole: number, ofEvent: number): number => {
    const own = Math.min(whole, Math.max(0, ofEvent));
    return own + (whole - own) / Math.max(1, each);
  };
  return {
    beckon: part(alone.beckon, eventPart.beckon),
    postgres: part(alone.postgres, eventPart.postgres),
  };
}
