import { type Command, InvalidArgumentError, Option } from 'commander';
import { normaliseAddress } from '../base/address.ts';
import { iso } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import { parseInstant } from '../base/instant.ts';
import { isEmail } from '../base/records/email.ts';
import { isStorable } from '../features/people/index.ts';
import { findProject } from '../features/projects/index.ts';
import {
  type ClearPlace,
  isAboutAddress,
  isHashed,
  type Lift,
  listSuppressions,
  type StoredSuppression,
  type SuppressedPlace,
  SUPPRESSION_REASONS,
  type SuppressionReason,
  SUPPRESSIONS_PAGE_MAX,
} from '../features/suppressions/index.ts';
import { findTyped } from '../flows/erased-suppressions.ts';
import { liftSuppression, suppress } from '../flows/suppress.ts';
import type { Tx } from '../io/db/index.ts';
import { OPERATOR, type Operator } from './operator.ts';
import { addExport, addImport } from './suppression-lists.ts';
import { JSON_OPTION, type OutputOptions, PROJECT_OPTION, runOpened } from './run.ts';
import { table } from './table.ts';

type OfProject = { project: string } & OutputOptions;
type OfPlace = OfProject & { email?: string; user?: string };

const EMAIL_OPTION = ['--email <email>', 'whoever has this address'] as const;
const USER_OPTION = ['--user <user>', 'this user, whatever their address'] as const;
const LISTED = 1_000;

export function addSuppressionCommands(program: Command, operator: Operator): void {
  const suppression = program
    .command('suppression')
    .description('to whom nothing is sent: by address or by user');
  addAdd(suppression, operator);
  addRemove(suppression, operator);
  addList(suppression, operator);
  addImport(suppression, operator);
  addExport(suppression, operator);
}

function addAdd(suppression: Command, operator: Operator): void {
  suppression
    .command('add')
    .description('send nothing more to an address or a user; what is under way to them ends')
    .requiredOption(...PROJECT_OPTION)
    .option(...EMAIL_OPTION)
    .option(...USER_OPTION)
    .addOption(new Option('--reason <reason>', 'why').choices(SUPPRESSION_REASONS).default('manual'))
    .option('--until <time>', 'until then, such as 2026-03-01T00:00:00Z; else for good')
    .option(...JSON_OPTION)
    .action((options: OfPlace & { reason: SuppressionReason; until?: string }) =>
      runOpened(operator, options, {
        work: async ({ db, hasher }) => {
          const place = await readPlace(db, options);
          const until = options.until === undefined ? null : readUntil(options.until, db.clock.now());
          const { reason } = options;
          // The recipient's page shows a break by its end, and could take back none that has no end.
          if (reason === 'snoozed' && until === null)
            throw invalid('What is snoozed has an end: --until says when', 'until');
          const done = await suppress(db, { ...place, reason, until, actor: OPERATOR, hasher });
          const { isAdded: added, drafts, runs } = done;
          return { ...toPlace(place), reason, until: shownUntil(until), added, drafts, runs };
        },
        show: ({ kind, value, added, drafts, runs }) => {
          const head = `Nothing is sent to the ${kind} ${JSON.stringify(value)} any more`;
          const before = added ? '' : ' (a suppression that lasts at least as long was there)';
          return `${head}${before}: ${drafts} drafts were canceled and ${runs} runs ended`;
        },
      }),
    );
}

function addRemove(suppression: Command, operator: Operator): void {
  suppression
    .command('remove')
    .description('let letters go to an address or a user again')
    .requiredOption(...PROJECT_OPTION)
    .option(...EMAIL_OPTION)
    .option(...USER_OPTION)
    .option('--yes', 'they may have asked not to be written to: you know that they want it again')
    .option(...JSON_OPTION)
    .action((options: OfPlace & { yes?: boolean }) =>
      runOpened(operator, options, {
        work: async ({ db, hasher }) => {
          const place = await readPlace(db, options);
          const { suppression: found, lift, places } = await findTyped(db, hasher, place);
          if (!found) throw notThere(place, lift);
          if (!options.yes) throw unconfirmed(place, found);
          if (!(await liftSuppression(db, places, OPERATOR))) throw notThere(place);
          return { ...toPlace(place), removed: true };
        },
        show: ({ kind, value }) => `Letters may go to the ${kind} ${JSON.stringify(value)} again`,
      }),
    );
}

function addList(suppression: Command, operator: Operator): void {
  suppression
    .command('list')
    .description('list addresses and users to whom nothing is sent')
    .requiredOption(...PROJECT_OPTION)
    .option(...EMAIL_OPTION)
    .option(...USER_OPTION)
    .option('--erased', 'only those of erased users')
    .option('--limit <number>', 'no more than so many', readCount, LISTED)
    .option(...JSON_OPTION)
    .action((options: OfPlace & { erased?: boolean; limit: number }) =>
      runOpened(operator, options, {
        work: async ({ db, hasher }) => {
          const isAsked = options.email !== undefined || options.user !== undefined;
          const place = isAsked ? await readPlace(db, options) : null;
          const only = place && [place, hasher.hash(place)];
          const { id: projectId } = await findProject(db, options.project);
          const isWanted = (one: StoredSuppression): boolean =>
            (!only || only.some((wanted) => isSame(wanted, one))) &&
            (!options.erased || one.fromErased === true);
          return (await readPages(db, { projectId, isWanted, limit: options.limit })).map(toShown);
        },
        show: (rows) => table(rows.map(toLine), 'Nobody is suppressed'),
      }),
    );
}

type Listing = { projectId: number; isWanted: (one: StoredSuppression) => boolean; limit: number };

async function readPages(tx: Tx, { projectId, isWanted, limit }: Listing): Promise<StoredSuppression[]> {
  const found: StoredSuppression[] = [];
  let after: StoredSuppression | null = null;
  for (let more = true; more && found.length < limit;) {
    const page: StoredSuppression[] = await listSuppressions(tx, {
      projectId,
      after,
      limit: SUPPRESSIONS_PAGE_MAX,
    });
    found.push(...page.filter(isWanted));
    after = page.at(-1) ?? null;
    more = page.length === SUPPRESSIONS_PAGE_MAX;
  }
  return found.slice(0, limit);
}

function isSame(a: Pick<SuppressedPlace, 'kind' | 'value'>, b: typeof a): boolean {
  return a.kind === b.kind && a.value === b.value;
}

function toShown({
  kind,
  value,
  reason,
  until,
  createdAt,
  createdBy,
  fromErased = false,
}: StoredSuppression) {
  return {
    ...toPlace({ kind, value }),
    hash: isHashed(kind) ? value : null,
    from_erased: fromErased,
    reason,
    until: shownUntil(until),
    created_at: iso(createdAt),
    created_by: createdBy,
  };
}

/** For people: a hash tells them nothing. */
function toLine({ hash: _hash, from_erased: _fromErased, ...row }: ReturnType<typeof toShown>) {
  return { ...row, value: row.value ?? 'an erased user' };
}

/** What the interface calls a user is a person within. Of an erased user neither address nor id is known. */
function toPlace({ kind, value }: Pick<SuppressedPlace, 'kind' | 'value'>) {
  return { kind: isAboutAddress(kind) ? 'email' : 'user', value: isHashed(kind) ? null : value };
}

function shownUntil(until: number | null): string | null {
  return until === null ? null : iso(until);
}

async function readPlace(tx: Tx, { project, email, user }: OfPlace): Promise<ClearPlace> {
  if ((email === undefined) === (user === undefined))
    throw invalid('One of --email and --user says who it is', 'email');
  const { id: projectId } = await findProject(tx, project);
  if (user !== undefined) {
    if (user === '' || !isStorable(user)) throw invalid(`${JSON.stringify(user)} is nobody's id`, 'user');
    return { projectId, kind: 'person', value: user };
  }
  const address = (email ?? '').trim();
  if (!isEmail(address)) throw invalid(`${JSON.stringify(address)} is no e-mail address`, 'email');
  return { projectId, kind: 'address', value: normaliseAddress(address) };
}

function readUntil(text: string, now: number): number {
  const until = parseInstant(text);
  if (until > now) return until;
  throw invalid('--until must be a time to come, such as 2026-03-01T00:00:00Z', 'until');
}

function readCount(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1) throw new InvalidArgumentError('It must be a whole number above 0.');
  return value;
}

function unconfirmed(place: ClearPlace, found: StoredSuppression): Fault {
  const { kind, value } = toPlace(place);
  const { reason, until, created_at: since, created_by: by } = toShown(found);
  const what = `The ${kind} ${JSON.stringify(value)} is suppressed: ${reason} since ${since} by ${by}, ${until === null ? 'for good' : `until ${until}`}`;
  const message = `${what}. With --yes you say that they want letters again`;
  return new Fault('conflict', { details: [{ message, field: 'yes' }] });
}

function notThere(place: ClearPlace, lift?: Lift): Fault {
  const { kind, value } = toPlace(place);
  const before = lift
    ? `it was, ${lift.reason} since ${iso(lift.suppressedAt)} by ${lift.suppressedBy}, until ${lift.liftedBy} lifted it at ${iso(lift.liftedAt)}`
    : 'suppression list shows who is';
  const message = `The ${kind} ${JSON.stringify(value)} is not suppressed: ${before}`;
  return new Fault('not_found', { details: [{ message, field: kind }] });
}

function invalid(message: string, field: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}
