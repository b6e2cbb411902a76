import { ActionIcon, TextInput, Tooltip } from '@mantine/core';
import { Info, Search, X } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { Failed } from './error-box.tsx';
import { useKeys } from './use-keys.tsx';
import { textProps } from './bind.ts';

export type FilterBoxProps = {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  /** The list's error: shown here if it is about the filter. */
  fault?: Failed | null;
  label?: string;
  placeholder?: string;
  /** The terms of this list, one per line: `plan:pro`, `-state:sent`. */
  hints?: string[];
};

/** The delay between the last keystroke and the request. */
const AFTER_MS = 250;

/** The filter of all lists. `/` focuses it, Esc leaves it. */
export function FilterBox(props: FilterBoxProps): ReactNode {
  const { value, onChange, fault, label = 'Filter', placeholder = 'Search or filter', hints = [] } = props;
  const input = useRef<HTMLInputElement>(null);
  const [typed, type] = useTyped(value, onChange);
  const hintsId = useId();
  useKeys('List', { '/': { label: 'Filter', run: () => input.current?.focus() } });
  const isFaulty = fault !== null && fault !== undefined && fault.field === 'filter';
  return (
    <TextInput
      ref={input}
      {...textProps(typed, type)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') input.current?.blur();
      }}
      error={isFaulty ? fault.message : undefined}
      aria-label={label}
      placeholder={placeholder}
      spellCheck={false}
      autoComplete="off"
      w={{ base: '100%', sm: 380 }}
      leftSection={<Search size={15} aria-hidden="true" />}
      rightSectionWidth={typed !== '' && hints.length > 0 ? 60 : 32}
      rightSection={
        <>
          {typed !== '' && (
            <ActionIcon
              variant="subtle"
              color="gray"
              size={24}
              aria-label="Clear filter"
              onClick={() => type('')}
            >
              <X size={14} aria-hidden="true" />
            </ActionIcon>
          )}
          {hints.length > 0 && <Hints hints={hints} id={hintsId} />}
        </>
      }
    />
  );
}

function Hints({ hints, id }: { hints: string[]; id: string }): ReactNode {
  const lines = [
    'Words are searched in names, addresses, ids and subjects. Terms are combined with AND. Use - to exclude, * as a wildcard and commas for OR.',
    ...hints,
  ];
  return (
    <Tooltip
      multiline
      maw={340}
      events={{ hover: true, focus: true, touch: true }}
      label={lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    >
      <ActionIcon
        variant="subtle"
        color="gray"
        size={24}
        aria-label={`Filter syntax: ${lines.join(' ')}`}
        id={id}
      >
        <Info size={14} aria-hidden="true" />
      </ActionIcon>
    </Tooltip>
  );
}

/** Typed text updates the URL after a delay. A URL change from elsewhere replaces the text. */
function useTyped(
  value: string | undefined,
  onChange: (value: string | undefined) => void,
): [string, (next: string) => void] {
  const [typed, setTyped] = useState(value ?? '');
  const lastValue = useRef(value ?? '');
  const latestOnChange = useRef(onChange);
  useEffect(() => {
    latestOnChange.current = onChange;
  });
  useEffect(() => {
    if ((value ?? '') === lastValue.current) return;
    lastValue.current = value ?? '';
    setTyped(value ?? '');
  }, [value]);
  useEffect(() => {
    if (typed.trim() === lastValue.current) return undefined;
    const timer = setTimeout(() => {
      lastValue.current = typed.trim();
      latestOnChange.current(typed.trim() === '' ? undefined : typed.trim());
    }, AFTER_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return [typed, setTyped];
}
