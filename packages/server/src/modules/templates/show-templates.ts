import type { TemplateVariable } from '@beckon/contract/dashboard';
import {
  findShippedEmail,
  emailOfVersion,
  type TemplateText,
  listTemplates,
  type Renderer,
  shippedEmailNames,
  type Template,
} from '../rendering/index.ts';
import { listRulesInForce } from '../rules/index.ts';
import { countFilled } from './store.ts';
import { findTemplate, listVersions, type TemplateVersion } from './templates.ts';
import { listNames } from '../users/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { emailNames } from './email-names.ts';

type RenderDeps = { db: Tx; renderer: Renderer };
type TemplatesQuery = { projectId: number; now: number };

/** `template`: null if the template is shipped and the project has none of that name. `usedBy`: the names of rules. */
export type ListedEmail = { name: string; template: Template | null; isShipped: boolean; usedBy: string[] };

export type TemplateView = ListedEmail & {
  email: TemplateText;
  /** The newest version first; empty for a shipped template. */
  versions: TemplateVersion[];
  variables: TemplateVariable[];
  /** How many users the shares are of, and the variables of users that the template does not use. */
  people: number;
  others: { name: string; share: number }[];
};

/** Lists the project's own and the shipped templates by name. */
export async function listEmails(tx: Tx, query: TemplatesQuery): Promise<ListedEmail[]> {
  const templates = new Map(
    (await listTemplates(tx, query.projectId)).map((template) => [template.name, template]),
  );
  const users = await findUsers(tx, query);
  return [...new Set([...shippedEmailNames(), ...templates.keys()])]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((name) => ({
      name,
      template: templates.get(name) ?? null,
      isShipped: findShippedEmail(name) !== undefined,
      usedBy: users(name),
    }));
}

async function findUsers(tx: Tx, { projectId, now }: TemplatesQuery): Promise<(name: string) => string[]> {
  const inForce = await listRulesInForce(tx, projectId, now);
  const naming = inForce.map((rule) => ({ rule: rule.name, emails: emailNames(rule.definition) }));
  return (name) => [...new Set(naming.filter(({ emails }) => emails.has(name)).map(({ rule }) => rule))];
}

/** Finds the template that rules use under this name, or a template by its id. */
export async function findEmail(
  tx: Tx,
  { projectId, reference }: { projectId: number; reference: string },
): Promise<{ name: string; template: Template | null; email: TemplateText }> {
  const name = reference.trim();
  const shipped = findShippedEmail(name);
  const isProjectTemplate = (await listTemplates(tx, projectId)).some((template) => template.name === name);
  if (shipped && !isProjectTemplate) return { name, template: null, email: shipped };
  const { template, version } = await findTemplate(tx, { projectId, reference });
  return { name: template.name, template, email: emailOfVersion(version) };
}

const OTHERS_SHOWN = 50;
const EVENTS_SHOWN = 5;

/** Returns a template with its versions, and with how many users have values for its variables. */
export async function showEmail(
  { db: tx, renderer }: RenderDeps,
  query: TemplatesQuery & { reference: string },
): Promise<TemplateView> {
  const { projectId } = query;
  const { name, template, email } = await findEmail(tx, query);
  const users = await findUsers(tx, query);
  return {
    name,
    template,
    isShipped: findShippedEmail(name) !== undefined,
    usedBy: users(name),
    email,
    versions: template ? await listVersions(tx, projectId, template.id) : [],
    ...(await showVariables({ db: tx, renderer }, query, email)),
  };
}

/** Returns the variables of a template, saved or not, and the share of users who have a value for each. */
export async function showVariables(
  { db: tx, renderer }: RenderDeps,
  { projectId, now }: TemplatesQuery,
  email: TemplateText,
): Promise<Pick<TemplateView, 'variables' | 'people' | 'others'>> {
  const used = await renderer.run('usedVariables', email, { projectId });
  const traits = used.flatMap((variable) =>
    variable.name.startsWith(PERSON) ? [variable.name.slice(PERSON.length)] : [],
  );
  const rates = await fillRates(tx, projectId, traits);
  const events = await listNames(tx, projectId, now);
  return {
    variables: used.map((variable) => ({
      ...variable,
      share: shareOf(variable.name, rates),
      events: sourcesOf(variable.name, events),
    })),
    people: rates.people,
    others: [...rates.traits]
      .filter(([trait]) => !traits.includes(trait))
      .slice(0, OTHERS_SHOWN)
      .map(([trait, share]) => ({ name: PERSON + trait, share })),
  };
}

const PERSON = 'user.';
const EVENT = 'event.';

function shareOf(name: string, { traits, email }: FillRates): number | null {
  if (!name.startsWith(PERSON)) return null;
  const trait = name.slice(PERSON.length);
  if (trait === 'external_user_id') return 1;
  return trait === 'email' ? email : (traits.get(trait) ?? 0);
}

function sourcesOf(name: string, events: Awaited<ReturnType<typeof listNames>>): string[] {
  if (!name.startsWith(EVENT)) return [];
  const property = name.slice(EVENT.length);
  return events
    .filter(({ properties }) => properties.some((entry) => entry.property === property))
    .slice(0, EVENTS_SHOWN)
    .map((event) => event.name);
}

/** The share of users who have a value, from 0 to 1, by trait, and separately for `email`. */
type FillRates = { people: number; traits: Map<string, number>; email: number };

/** The maximum number of users that are read. */
const PEOPLE_MAX = 10_000;
const TRAITS_MAX = 200;
const [PEOPLE, EMAIL] = [' people', ' email'];

/** `traits`: traits that are always included in the result. */
async function fillRates(tx: Tx, projectId: number, traits: string[]): Promise<FillRates> {
  const limit = TRAITS_MAX + traits.length;
  const rows = await countFilled(tx, { projectId, people: PEOPLE_MAX, keys: traits, limit });
  const counts = new Map(rows.map(({ key, filled }) => [key, filled]));
  const people = counts.get(PEOPLE) ?? 0;
  const share = (key: string): number => (people === 0 ? 0 : (counts.get(key) ?? 0) / people);
  const names = [...counts.keys()].filter((key) => key !== PEOPLE && key !== EMAIL);
  return {
    people,
    traits: new Map([...traits, ...names].map((name) => [name, share(name)])),
    email: share(EMAIL),
  };
}
