import {
  FILTER_KEYS,
  type FilterKey,
  type FilterKeys,
  type ListName,
  type SuggestedKind,
} from '@beckon/contract/dashboard';
import { type ReactNode, useEffect, useState } from 'react';
import { useApi } from '../api/index.ts';
import type { Expanded, HandlesRef } from './filter-box-inner.tsx';
import classes from './filter-box.module.css';
import { type Completed, completionOf, withKey, withValue } from './filter-text.ts';
import { useProjectZone } from './zone.tsx';
import { localOf } from './zoned.ts';

type Props = {
  id: string;
  list: ListName;
  typed: string;
  handles: HandlesRef;
  onExpanded: (expanded: Expanded) => void;
  /** `isWhole`: the text ends with a complete term. */
  onPick: (typed: string, isWhole: boolean) => void;
};

/** `value` replaces the text at the end of the input. */
type Option = { of: 'key' | 'value'; value: string; label: string; about: string | null };

/** The listbox of the filter: keys of the list, and values of the key that is being typed. */
export function FilterSuggestions({ id, list, typed, handles, onExpanded, onPick }: Props): ReactNode {
  const zone = useProjectZone();
  const completed = completionOf(typed);
  const options = useOptions(FILTER_KEYS[list], completed, zone);
  const [active, setActive] = useState<string>();
  const index = options.findIndex(({ value }) => value === active);
  const pick = ({ of, value }: Option): void => {
    setActive(undefined);
    if (of === 'key')
      onPick(value.endsWith('.') ? withKey(typed, value).slice(0, -1) : withKey(typed, value), false);
    else onPick(withValue(typed, value), true);
  };
  const move = (by: number): boolean => {
    if (options.length === 0) return false;
    const from = index < 0 && by < 0 ? 0 : index;
    setActive(options[(from + by + options.length) % options.length]?.value);
    return true;
  };
  const activeId = index < 0 ? undefined : `${id}-${index}`;
  useEffect(() => {
    handles.current = (key) => {
      if (key === 'ArrowDown') return move(1);
      if (key === 'ArrowUp') return move(-1);
      const option = options[index];
      if (key !== 'Enter' || option === undefined) return false;
      pick(option);
      return true;
    };
    return () => {
      handles.current = () => false;
    };
  });
  const isShown = options.length > 0;
  useEffect(() => {
    onExpanded(isShown ? { activeId } : null);
    if (activeId !== undefined) document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' });
  }, [isShown, activeId, onExpanded]);
  useEffect(() => () => onExpanded(null), [onExpanded]);
  if (!isShown) return null;
  return (
    // The input keeps the focus while an option is clicked.
    <div className={classes.popup} onMouseDown={(event) => event.preventDefault()}>
      <Options id={id} options={options} index={index} onPick={pick} />
      <Help days={isTime(FILTER_KEYS[list], completed) ? zone : null} />
    </div>
  );
}

/** `days`: the zone of the days, while a time is typed. */
function Help({ days }: { days: string | null }): ReactNode {
  if (days !== null)
    return (
      <p className={classes.help}>
        A day is a day in {days}. <code>&gt;</code> is after it, <code>&lt;</code> is before it.
      </p>
    );
  return (
    <p className={classes.help}>
      Words are searched everywhere. <code>-</code> excludes, <code>*</code> is a wildcard, a comma means or.
    </p>
  );
}

type OptionsProps = { id: string; options: Option[]; index: number; onPick: (option: Option) => void };

function Options({ id, options, index, onPick }: OptionsProps): ReactNode {
  return (
    <ul id={id} role="listbox" aria-label="Suggestions" className={classes.list}>
      {options.map((option, at) => (
        <li
          key={`${option.of} ${option.value}`}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === index}
          className={classes.option}
          onClick={() => onPick(option)}
        >
          <span>{option.label}</span>
          {option.about !== null && <span className={classes.about}>{option.about}</span>}
        </li>
      ))}
    </ul>
  );
}

const SHOWN_MAX = 10;

function useOptions(keys: FilterKeys, completed: Completed, zone: string): Option[] {
  const isTrait = completed.of === 'key' && TRAIT in keys && completed.text.startsWith(TRAIT_PREFIX);
  const ofValue = completed.of === 'value' ? keyOf(keys, completed.key)?.suggest : undefined;
  const typed = isTrait ? completed.text.slice(TRAIT_PREFIX.length) : completed.text;
  const found = useValues(isTrait ? 'trait' : ofValue, typed);
  if (isTrait) return found.flatMap(traitOption);
  if (completed.of === 'key') return keyOptions(keys, completed);
  const key = keyOf(keys, completed.key);
  return key?.isTime ? timeOptions(completed.text, zone) : optionsOf(key, completed.text, found);
}

type Found = { value: string; label: string | null };

/** A trait with one of these characters in its name cannot be a key. */
function traitOption({ value }: Found): Option[] {
  if (/[\s:"]/.test(value)) return [];
  const key = `${TRAIT_PREFIX}${value}`;
  return [{ of: 'key', value: key, label: `${key}:`, about: 'Value of a trait' }];
}

function optionsOf(key: FilterKey | undefined, text: string, found: Found[]): Option[] {
  if (!key) return [];
  if (key.values) return valueOptions(key.values, text);
  return found.map(({ value, label }) => ({
    of: 'value',
    value,
    label: label ?? value,
    about: label === null ? null : value,
  }));
}

const TRAIT = 'trait.<name>';
const TRAIT_PREFIX = 'trait.';

function keyOf(keys: FilterKeys, name: string): FilterKey | undefined {
  return Object.hasOwn(keys, name) ? keys[name] : undefined;
}

function keyOptions(keys: FilterKeys, { isNegated, text }: Extract<Completed, { of: 'key' }>): Option[] {
  const minus = isNegated ? '-' : '';
  return Object.entries(keys)
    .filter(([name, { about }]) => `${name} ${about}`.toLowerCase().includes(text.toLowerCase()))
    .toSorted(([a], [b]) => Number(b.startsWith(text)) - Number(a.startsWith(text)))
    .map(([name, { about }]) => {
      const value = name === TRAIT ? TRAIT_PREFIX : name;
      return { of: 'key', value, label: name === TRAIT ? `${minus}${name}` : `${minus}${name}:`, about };
    });
}

function valueOptions(values: readonly string[], text: string): Option[] {
  return values
    .filter((value) => value.includes(text.toLowerCase()))
    .map((value) => ({ of: 'value', value, label: value, about: null }));
}

function isTime(keys: FilterKeys, completed: Completed): boolean {
  return completed.of === 'value' && keyOf(keys, completed.key)?.isTime === true;
}

const DAY_MS = 86_400_000;

/** Days are days of the project, whatever zone times are shown in. `>` excludes the day itself. */
function timeOptions(text: string, zone: string): Option[] {
  const today = Date.parse(localOf(Date.now(), zone).date);
  const dayBefore = (days: number): string => new Date(today - days * DAY_MS).toISOString().slice(0, 10);
  return [
    { value: dayBefore(0), about: 'Today' },
    { value: `>${dayBefore(7)}`, about: 'Last 7 days' },
    { value: `>${dayBefore(30)}`, about: 'Last 30 days' },
    { value: `<${dayBefore(30)}`, about: 'More than 30 days ago' },
  ]
    .filter(({ value }) => value.startsWith(text))
    .map((option) => ({ ...option, of: 'value', label: option.value }));
}

/** The delay between the last keystroke and the request. */
const AFTER_MS = 150;

function useValues(of: SuggestedKind | undefined, typed: string): Found[] {
  const [text, setText] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setText(typed), AFTER_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const values = useApi(
    'GET /projects/:project/filter-values',
    { query: { of: of ?? 'rule', text } },
    { enabled: of !== undefined, keep: true },
  );
  return of === undefined ? [] : (values.data?.data ?? []).slice(0, SHOWN_MAX);
}
