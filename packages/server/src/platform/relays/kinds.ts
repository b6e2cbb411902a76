import type { RelayAdapter, RelayField } from './adapter.ts';
import type { RelayKindInfo } from './kind-info.ts';
import { withoutSecrets } from './redact.ts';
import { SMTP_KIND } from './smtp.ts';

/** The kinds of relays that can be set up. */
export type RelayKinds = {
  list: readonly RelayKindInfo[];
  of(kind: string): RelayKindInfo | undefined;
  /** Undefined for SMTP. */
  adapterOf(kind: string): RelayAdapter | undefined;
};

export function relayKinds(adapters: readonly RelayAdapter[]): RelayKinds {
  const safe = adapters.map(withoutSecrets);
  const list: RelayKindInfo[] = [...safe, SMTP_KIND];
  return {
    list,
    of: (kind) => list.find((info) => info.kind === kind),
    adapterOf: (kind) => safe.find((adapter) => adapter.kind === kind),
  };
}

/** Splits values into those that are shown, and those that are encrypted. */
export function splitSecrets(
  fields: readonly RelayField[],
  values: Readonly<Record<string, string>>,
): { settings: Record<string, string>; secrets: Record<string, string> } {
  const shown = new Set(fields.flatMap(({ name, isSecret }) => (isSecret ? [] : [name])));
  const entries = Object.entries(values);
  return {
    settings: Object.fromEntries(entries.filter(([name]) => shown.has(name))),
    // A value without a field, such as a generated secret, is not shown either.
    secrets: Object.fromEntries(entries.filter(([name]) => !shown.has(name))),
  };
}
