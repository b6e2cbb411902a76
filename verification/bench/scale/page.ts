import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CpuCost } from '../measure.ts';
import { round } from '../print.ts';
import { predict, predictedAndMeasured } from './figures.ts';
import { type Installation, type Load, type Plan, plan } from './model.ts';
import { LOADS, MODEL, RUN } from './values.ts';

const PAGE = join(import.meta.dirname, '../../../docs/explanation/scale-model.md');

export function readScalePage(): string {
  return readFileSync(PAGE, 'utf8');
}

/** Writes the tables of the model between their marks in the page. The text around them is written by hand. */
export function writeScalePage(): void {
  writeFileSync(PAGE, filledPage(readScalePage()));
}

export function filledPage(page: string): string {
  let filled = page;
  for (const [name, table] of Object.entries(TABLES)) {
    const [from, to] = [`<!-- model: ${name}, written by the bench -->`, `<!-- model: end of ${name} -->`];
    const [head, rest = ''] = filled.split(from);
    const [, tail] = rest.split(to);
    if (tail === undefined) throw new Error(`docs/explanation/scale-model.md has no "${from}" with its end`);
    filled = [head, from, '\n\n', table(), '\n\n', to, tail].join('');
  }
  return filled;
}

const TABLES: Record<string, () => string> = {
  inputs: inputTable,
  assumptions: assumptionTable,
  prices: priceTable,
  cost: costTable,
  limits: limitTable,
  money: moneyTable,
  run: runTable,
};

function inputTable(): string {
  const m = MODEL.measurements;
  const cpu = (name: string, { beckon, postgres }: CpuCost, source: string): string[] => [
    name,
    micros(beckon),
    micros(postgres),
    source,
  ];
  const run = '`bench -- scale run`';
  const inputs = '`bench -- scale inputs`';
  return markdown(
    ['CPU time', 'Beckon', 'PostgreSQL', 'Measured by'],
    [
      cpu('Accept an event of a project that sends many', m.acceptBusy, run),
      cpu('Accept the first event of a project in ten seconds', m.acceptFirst, run),
      cpu('Process an event that is alone of its project in a batch', m.eventAlone, run),
      cpu(`Process one of ${m.sharedBy} events of a project in a batch`, m.eventShared, run),
      cpu('Process an event alone, and read the definitions of its project', m.eventUnread, run),
      cpu('Look once for history of a project past its retention', m.housekeeping.history, run),
      cpu('All other jobs that visit each project, per hour', m.housekeeping.hourly, run),
      cpu('Evaluate five audiences for an event, none of which changes', m.fiveAudiences, inputs),
      cpu('A user joins or leaves an audience', m.audienceChange, inputs),
      cpu('A rule starts a run with a draft', m.draft, inputs),
      cpu('Render, sign, send and record an email', m.email, '`bench -- send`'),
      cpu('Deliver a webhook', m.webhook, '`bench -- webhooks`'),
    ],
  );
}

function assumptionTable(): string {
  const a = MODEL.assumptions;
  const { capacity } = MODEL;
  return markdown(
    ['Assumption', 'Value'],
    [
      ['Rate in peak hours', `${a.peakOverMean} times the mean`],
      ['Busy part of a core at the peak', percentOf(a.busyShare)],
      ['Events of a user per day', String(a.eventsPerUserPerDay)],
      ['Audience changes per event', String(a.audienceChangesPerEvent)],
      ['Drafts and emails per event', String(a.draftsPerEvent)],
      ['Outcomes and webhooks per email', `${a.outcomesPerEmail} and ${a.webhooksPerEmail}`],
      ['Events and emails are kept for', `${a.retentionDays} days`],
      ['Part of all events that the largest project sends', percentOf(a.largestProject)],
      ['Time between two batches of a project', `${a.gatherSeconds * 1_000} ms`],
      [
        'One PostgreSQL has at most',
        `${capacity.databaseCores} cores, ${bytes(capacity.logBytesPerSecond)} of log a second, ${capacity.diskBytes / 1024 ** 4} TiB of disk`,
      ],
    ],
  );
}

function priceTable(): string {
  const p = MODEL.prices;
  return markdown(
    ['Price, June 2026', 'Dollars'],
    [
      ['A virtual core with 4 GiB of memory (m7g), per hour', String(p.vcpuHour)],
      ['Disk (gp3), per GiB and month', p.diskGibMonth.toFixed(2)],
      [
        `Disk throughput above ${p.diskMibPerSecondFree} MiB/s, per MiB/s and month`,
        p.diskMibPerSecondMonth.toFixed(2),
      ],
      ['Backup (S3), per GiB and month', String(p.backupGibMonth)],
      ['Traffic between two zones, per GiB', p.trafficGib.toFixed(2)],
      ['A thousand emails (SES)', p.thousandEmails.toFixed(2)],
    ],
  );
}

function planRows(cellsOf: (planned: Plan) => string[]): string[][] {
  return LOADS.map((load) => [...loadCells(load), ...cellsOf(plan(MODEL, load))]);
}

function costTable(): string {
  return markdown(
    ['Events a day', 'Projects', 'API', 'Workers', 'PostgreSQL', 'In all'],
    planRows(({ each: { cost } }) => [
      micros(cost.api),
      micros(cost.worker),
      micros(cost.postgres),
      micros(cost.api + cost.worker + cost.postgres),
    ]),
  );
}

function limitTable(): string {
  return markdown(
    ['Events a day', 'Projects', 'Peak a second', 'Cores', 'Log a second', 'Disk', 'Breaks first'],
    planRows(({ alone, limits }) => [
      round(alone.peakPerSecond),
      cores(alone),
      bytes(alone.logBytesPerSecond),
      bytes(alone.diskBytes),
      ...limits.slice(0, 1).map(({ name, share }) => {
        const text = `${name}: ${percentOf(share)}`;
        return share > 1 ? `**${text}**` : text;
      }),
    ]),
  );
}

function moneyTable(): string {
  return markdown(
    ['Events a day', 'Projects', 'Installations', 'Machines', 'A month', 'Emails by a provider'],
    planRows((planned) => [
      round(planned.installations),
      planned.machines.map(({ count, vcpus }) => `${round(count)} × ${vcpus} vCPU`).join(', '),
      dollars(planned.dollarsPerMonth),
      dollars(planned.emailDollarsPerMonth),
    ]),
  );
}

function runTable(): string {
  const predicted = predict(MODEL.measurements, RUN);
  return markdown(
    ['Figure', 'Predicted', 'Measured', 'Measured / predicted'],
    predictedAndMeasured(predicted, RUN.measured, RUN.each).map((row) => row.slice(0, 4)),
  );
}

function markdown(header: string[], rows: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

function loadCells({ eventsPerDay, projects }: Load): [string, string] {
  const day = eventsPerDay >= 1e9 ? `${round(eventsPerDay / 1e9)} G` : `${round(eventsPerDay / 1e6)} M`;
  return [day, round(projects)];
}

function micros(value: number): string {
  return `${round(value)} µs`;
}

function percentOf(share: number): string {
  const value = share * 100;
  return `${value < 10 ? Number(value.toPrecision(1)) : round(value)} %`;
}

function cores({ cores: { api, worker, postgres } }: Installation): string {
  const total = api + worker + postgres;
  return total < 10 ? total.toFixed(total < 0.1 ? 3 : 1) : round(total);
}

const UNITS = ['kB', 'MB', 'GB', 'TB', 'PB'];

function bytes(value: number): string {
  const at = Math.max(0, Math.min(UNITS.length - 1, Math.floor(Math.log10(value) / 3) - 1));
  const scaled = value / 10 ** (3 * (at + 1));
  return `${scaled < 10 ? scaled.toFixed(1) : round(scaled)} ${UNITS[at] ?? ''}`;
}

function dollars(value: number): string {
  return `$${round(value)}`;
}
