import type { ProjectSettingsDetails } from '@beckon/contract/dashboard';
import { useState } from 'react';
import { type ReadKey, useApi, useChange } from '../api/index.ts';
import { refused, notify } from './notices.tsx';
import type { SettingField } from './policy-fields.tsx';

export type SettingsForm = {
  query: ReturnType<typeof useApi<'GET /projects/:project/settings'>>;
  /** The value in the form: the typed one, else the stored one. */
  text: (name: string) => string;
  set: (name: string, text: string) => void;
  fault: (name: string) => string | undefined;
  /** The changes against the stored values. */
  changes: Record<string, string>;
  dirty: boolean;
  saving: boolean;
  save: () => void;
  discard: () => void;
};

/** The routes that depend on settings. */
const FOLLOWS: ReadKey[] = [
  'GET /projects/:project/settings',
  'GET /projects/:project/sending',
  'GET /projects/:project/schedule',
  'GET /projects/:project/home',
  'GET /projects/:project/policy/simulate',
  'GET /projects',
];

type Typed = { changes: Record<string, string>; seen: Record<string, string> };
const NOTHING: Typed = { changes: {}, seen: {} };

/**
 * An edit of settings. Each change includes the value that the form showed, so that it overwrites only values the member saw. If another
 * member saved first, the typed values stay, and the form shows who changed which setting.
 */
export function useSettingsForm(): SettingsForm {
  const query = useApi('GET /projects/:project/settings', {});
  const [typed, setTyped] = useState(NOTHING);
  const [faults, setFaults] = useState<Record<string, string>>({});
  const stored = textsOf(query.data?.data);
  const change = useChange('PATCH /projects/:project/settings', {
    // Without it, the form would show the value from before until the settings are loaded again.
    writes: (cache, saved) => cache.change('GET /projects/:project/settings', () => saved),
    refreshes: FOLLOWS,
    onDone: () => {
      setTyped(NOTHING);
      setFaults({});
      notify('Saved');
    },
    onRefused: (error) => {
      setFaults(error.fields);
      if (Object.keys(error.fields).length === 0) refused(error);
      // A second save overwrites: the member saw the new value.
      if (error.status === 409)
        void query.refetch().then(({ data }) => setTyped((was) => seeing(was, data?.data)));
    },
  });
  return {
    query,
    text: (name) => typed.changes[name] ?? stored[name] ?? '',
    set: (name, text) => {
      setTyped((was) => typing(was, { name, text, stored: stored[name] ?? '' }));
      setFaults((was) => without(was, name));
    },
    fault: (name) => faults[name],
    changes: typed.changes,
    dirty: Object.keys(typed.changes).length > 0,
    saving: change.isPending,
    save: () => change.mutate({ body: { settings: typed.changes, seen: typed.seen } }),
    discard: () => {
      setTyped(NOTHING);
      setFaults({});
    },
  };
}

function textsOf(details: ProjectSettingsDetails | undefined): Record<string, string> {
  return Object.fromEntries((details?.settings ?? []).map(({ name, value }) => [name, value]));
}

/** A value that was typed back is not a change. */
export function typing(
  { changes, seen }: Typed,
  { name, text, stored }: { name: string; text: string; stored: string },
): Typed {
  const base = seen[name] ?? stored;
  if (text !== base) return { changes: { ...changes, [name]: text }, seen: { ...seen, [name]: base } };
  return { changes: without(changes, name), seen: without(seen, name) };
}

function without(texts: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).filter(([other]) => other !== name));
}

function seeing({ changes }: Typed, details: ProjectSettingsDetails | undefined): Typed {
  const stored = textsOf(details);
  const names = Object.keys(changes).filter((name) => changes[name] !== stored[name]);
  return {
    changes: Object.fromEntries(names.map((name) => [name, changes[name] ?? ''])),
    seen: Object.fromEntries(names.map((name) => [name, stored[name] ?? ''])),
  };
}

/** The props of a setting's field. */
export function fieldOf(form: SettingsForm, name: string, disabled: boolean): SettingField {
  return {
    text: form.text(name),
    onText: (text) => form.set(name, text),
    fault: form.fault(name),
    disabled,
  };
}
