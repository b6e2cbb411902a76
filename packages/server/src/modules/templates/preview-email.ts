import { Fault } from '../../platform/fault.ts';
import { LOCALE_TRAIT } from '../../platform/text/locale.ts';
import {
  listNewest,
  findPeople,
  isStorable,
  unknownPerson,
  type Person,
  findPastPerson,
} from '../users/index.ts';
import { listSettings, type ProjectSettings } from '../workspace/index.ts';
import { type Anchor, localeOfPerson, zoneOfPerson, listRulesInForce } from '../rules/index.ts';
import { completed, readTemplate } from './write-template.ts';
import {
  type Email,
  findShippedEmail,
  emailOfVersion,
  type TemplateText,
  TOO_MUCH_WORK,
  variablesFor,
  type Renderer,
} from '../rendering/index.ts';
import { findTemplate } from './templates.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { findEmail } from './show-templates.ts';
import { emailNames } from './email-names.ts';

export type RenderDeps = { db: Tx; renderer: Renderer };

export type PreviewQuery = {
  projectId: number;
  now: number;
  /** The published template of this name or id, with the changes of a document; or null for a document alone. */
  reference: string | null;
  document: unknown;
  /** The recipient; null: a sample user with a value for every variable. */
  userId: string | null;
  /** An earlier time to render for, with what was known about the user then. */
  at?: number;
};

/** The email as it would be sent. `missing`: the values that would hold it. `event`: the event that it is about. */
export type EmailPreview = Email & {
  content: TemplateText;
  /** The locale that it was rendered for. */
  locale: string;
  /** The template before it was filled in. */
  source: TemplateText;
  missing: string[];
  /** The variables of the template whose value at the requested time is uncertain. */
  unsure: string[];
  userId: string;
  event: string;
};

/** Renders a preview with the renderer of the sender. Stores nothing. */
export async function previewEmail(
  { db: tx, renderer }: RenderDeps,
  query: PreviewQuery,
): Promise<EmailPreview> {
  const { projectId, userId } = query;
  const { name, email: template } = await loadEmail({ db: tx, renderer }, query);
  const project = (await listSettings(tx, [projectId])).get(projectId);
  if (!project) throw new Error(`project ${projectId} has no settings`);
  const { now, at = now } = query;
  const used = (await renderer.run('usedVariables', template, { projectId })).map(
    (variable) => variable.name,
  );
  const scene: Scene = { projectId, project, now, at, name, used };
  const { person, anchor, unsure } = userId === null ? sampleCast(scene) : await userCast(tx, scene, userId);
  const locale = localeOfPerson(person, { project });
  const variables = variablesFor({
    person,
    anchor,
    endsAt: at + SAMPLE_ENDS_IN_MS,
    project,
    zone: zoneOfPerson(person, { project }),
    locale,
  });
  const frame = {
    projectName: project.name,
    postalAddress: project.settings.sender.postalAddress ?? SAMPLE_ADDRESS,
    footer: project.settings.sender.footer,
    unsubscribeUrl: SAMPLE_UNSUBSCRIBE,
    locale,
    projectLocale: project.settings.language,
  };
  const { rendered, email } = await renderer.run(
    'preview',
    { email: template, variables, frame },
    { projectId },
  );
  const { content, missing, failed } = rendered;
  if (failed !== null) throw tooMuchWork(failed);
  return {
    ...email,
    content,
    locale,
    source: template,
    missing,
    unsure,
    userId: person.userId,
    event: anchor.name,
  };
}

const SAMPLE_ENDS_IN_MS = 3 * 86_400_000;
const SAMPLE_ADDRESS = '(the postal address of the project)';
const SAMPLE_UNSUBSCRIBE = 'https://example.com/unsubscribe';

type Scene = {
  projectId: number;
  project: ProjectSettings;
  now: number;
  at: number;
  name: string | null;
  /** The variables that the template uses. */
  used: string[];
};
type Cast = {
  person: Pick<Person, 'userId' | 'traits' | 'email'>;
  anchor: Pick<Anchor, 'name' | 'properties' | 'occurredAt'>;
  unsure: string[];
};

function tooMuchWork(field: string): Fault {
  const message = `${field}: ${TOO_MUCH_WORK}`;
  return new Fault('validation_failed', { details: [{ message, field }] });
}

async function loadEmail(
  { db: tx, renderer }: RenderDeps,
  { projectId, reference, document }: PreviewQuery,
): Promise<{ name: string | null; email: TemplateText }> {
  if (document === null || document === undefined) {
    return findEmail(tx, { projectId, reference: reference ?? '' });
  }
  const { name, ...written } = readTemplate(document);
  const current = reference === null ? null : await sourceOf(tx, { projectId, reference });
  const compiled = await renderer.run('publishable', completed(written, current), { projectId });
  return { name: name ?? reference, email: emailOfVersion(compiled) };
}

async function sourceOf(tx: Tx, key: { projectId: number; reference: string }) {
  const { template } = await findEmail(tx, key);
  const shipped = template === null ? findShippedEmail(key.reference.trim()) : undefined;
  if (shipped) return { ...shipped, format: 'markdown' as const };
  const { format, subject, preheader, body } = (await findTemplate(tx, key)).version;
  return { format, subject, preheader, body };
}

const EVENTS_LOOKED_AT = 100;

/** Returns the user with their newest event that starts a rule of this template, or else with their newest event. */
async function userCast(tx: Tx, scene: Scene, userId: string): Promise<Cast> {
  const { projectId, name, now, at } = scene;
  const past = at === now ? {} : { by: at };
  const { person, unsure } =
    at === now ? await personOfNow(tx, scene, userId) : await personOfThen(tx, scene, userId);
  const events = await listNewest(tx, { projectId, userId, limit: EVENTS_LOOKED_AT, ...past });
  const starting = await startingEvents(tx, { projectId, name, now });
  const event = events.find((candidate) => starting.has(candidate.name)) ?? events[0];
  const anchor = event
    ? { name: event.name, properties: event.properties, occurredAt: event.occurred_at.getTime() }
    : { name: [...starting][0] ?? SAMPLE_EVENT, properties: {}, occurredAt: at };
  return { person, anchor, unsure };
}

type PreviewUser = Pick<Cast, 'person' | 'unsure'>;

async function personOfNow(tx: Tx, { projectId }: Scene, userId: string): Promise<PreviewUser> {
  const [person] = isStorable(userId) ? await findPeople(tx, [{ projectId, userId }]) : [];
  if (!person) throw unknownPerson(userId);
  return { person, unsure: [] };
}

async function personOfThen(tx: Tx, scene: Scene, userId: string): Promise<PreviewUser> {
  const { projectId, now, at } = scene;
  if (!isStorable(userId)) throw unknownPerson(userId);
  const found = await findPastPerson(tx, { projectId, userId, at, now });
  if (found.state !== 'known') throw unknownAtTime(found.state);
  const { email, traits, others } = found.past;
  const certaintyOf = (name: string): string =>
    name === 'email' ? email.certainty : (traits.get(name)?.certainty ?? others);
  const used = scene.used.filter((name) => name.startsWith('user.') && name !== 'user.external_user_id');
  return {
    person: {
      userId,
      email: email.value ?? null,
      traits: new Map(
        [...traits].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value] as const])),
      ),
    },
    unsure: used.filter((name) => certaintyOf(name.slice('user.'.length)) !== 'exact'),
  };
}

function unknownAtTime(state: 'not_created' | 'unknown'): Fault {
  const message =
    state === 'not_created' ? 'The user did not exist yet' : 'The changes of that time are no longer stored';
  return new Fault('validation_failed', { details: [{ message, field: 'at' }] });
}

async function startingEvents(
  tx: Tx,
  { projectId, name, now }: Pick<Scene, 'projectId' | 'name' | 'now'>,
): Promise<Set<string>> {
  const inForce = await listRulesInForce(tx, projectId, now);
  const naming = inForce.filter(({ definition }) => name !== null && emailNames(definition).has(name));
  return new Set(
    naming.flatMap(({ definition }) =>
      definition.when.flatMap((trigger) =>
        trigger.kind === 'event' || trigger.kind === 'relative'
          ? [trigger.event]
          : trigger.kind === 'absence'
            ? [trigger.since]
            : [],
      ),
    ),
  );
}

const SAMPLE_EVENT = 'user_signed_up';
const SAMPLE_TRAITS: Record<string, unknown> = {
  name: 'Ada',
  plan: 'pro',
  company: 'Example Ltd',
  role: 'owner',
};
const SAMPLE_PROPERTIES: Record<string, unknown> = {
  plan: 'pro',
  trialDays: 14,
  usagePercent: 85,
  meter: 'api_calls',
  limit: 10_000,
  amount: 49,
  currency: 'EUR',
};

/** Returns a sample user with a value for every variable of the template. A variable without a likely value gets its own name. */
function sampleCast({ used, at, project }: Scene): Cast {
  const filled = (root: string, samples: Record<string, unknown>): [string, unknown][] =>
    used.flatMap((name): [string, unknown][] => {
      const key = name.startsWith(root) ? name.slice(root.length) : '';
      return key === '' ? [] : [[key, samples[key] ?? key]];
    });
  const traits = { ...SAMPLE_TRAITS, [LOCALE_TRAIT]: project.settings.language };
  return {
    person: {
      userId: 'sample',
      traits: new Map([...Object.entries(traits), ...filled('user.', traits)]),
      email: 'ada@example.com',
    },
    anchor: {
      name: SAMPLE_EVENT,
      properties: Object.fromEntries(filled('event.', SAMPLE_PROPERTIES)),
      occurredAt: at,
    },
    unsure: [],
  };
}
