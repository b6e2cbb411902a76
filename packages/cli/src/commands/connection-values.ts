import type { RelayField } from '@beckon/contract/dashboard';
import { requireAnswer, usage } from '../failure.ts';
import type { Context } from '../framework/context.ts';
import { pairOf } from '../framework/options.ts';
import { canPrompt } from '../shell.ts';

type Values = { set: readonly string[]; secrets: object | undefined; isRotation?: true };

/**
 * Reads the settings of a relay or a reply source. A secret is never an argument. On a terminal the command prompts for it; otherwise it
 * comes from stdin or a file.
 */
export async function readValues(
  { shell, options }: Pick<Context, 'shell' | 'options'>,
  { fields }: { fields: readonly RelayField[] },
  { set, secrets, isRotation }: Values,
): Promise<Record<string, string>> {
  const values = pairsOf(set);
  for (const { name } of fields.filter(({ secret }) => secret))
    if (Object.hasOwn(values, name))
      throw usage(`${name} is secret. Enter it when prompted, or pass --secrets-file`, '--set');
  if (secrets !== undefined) {
    const entries = Object.entries(secrets).map(([name, value]): [string, string] => [name, String(value)]);
    return { ...values, ...Object.fromEntries(entries) };
  }
  if (!canPrompt(shell, options.json)) return values;
  return { ...values, ...(await promptFor({ shell }, { fields, values, isNew: !isRotation })) };
}

type Prompting = { fields: readonly RelayField[]; values: Record<string, string>; isNew: boolean };

/** Prompts for secrets, and for a new relay also for required fields that are missing. */
async function promptFor(
  { shell }: Pick<Context, 'shell'>,
  { fields, values, isNew }: Prompting,
): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  for (const { name, label, secret, required: isRequired } of fields) {
    const isNeeded = isRequired && isNew;
    if (!secret && !(isNeeded && values[name] === undefined)) continue;
    const ask = secret ? shell.prompts.secret : shell.prompts.text;
    const answer = requireAnswer(await ask(isNeeded ? label : `${label} (empty: none)`)).trim();
    if (answer !== '') answers[name] = answer;
  }
  return answers;
}

export function pairsOf(set: readonly string[]): Record<string, string> {
  return Object.fromEntries(set.map((pair) => pairOf(pair, '--set', 'field=value')));
}
