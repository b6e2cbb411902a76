import { ActionIcon, TextInput, Tooltip } from '@mantine/core';
import { Info, Search, X } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { Failed } from './error-box.tsx';
import { useKeys } from './use-keys.tsx';

export type FilterBoxProps = {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  /** What the list said of it: shown here if it is about the filter. */
  fault?: (Failed & { field?: string | undefined }) | null;
  label?: string;
  placeholder?: string;
  /** The terms that this list knows, one a line: `plan:pro`, `-state:sent`. */
  hints?: string[];
};

/** How long after the last letter the list is asked. */
const AFTER_MS = 250;

/** The one grammar of all lists. `/` leads here, Esc leads back. */
export function FilterBox(props: FilterBoxProps): ReactNode {
  const { value, onChange, fault, label = 'Filter', placeholder = 'Filter', hints = [] } = props;
  const input = useRef<HTMLInputElement>(null);
  const [typed, type] = useTyped(value, onChange);
  const hintsId = useId();
  useKeys('List', { '/': { label: 'Filter', run: () => input.current?.focus() } });
  const isFaulty = fault !== null && fault !== undefined && fault.field === 'filter';
  return (
    <TextInput
      ref={input}
      value={typed}
      onChange={(event) => type(event.currentTarget.value)}
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
              aria-label="Clear the filter"
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
    'All terms must hold. `-` in front says not, `*` stands for anything, a comma for or.',
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
        aria-label={`What can be filtered: ${lines.join(' ')}`}
        id={id}
      >
        <Info size={14} aria-hidden="true" />
      </ActionIcon>
    </Tooltip>
  );
}

/** What somebody types leads; what the URL says follows, unless it came from elsewhere. */
function useTyped(
  value: string | undefined,
  onChange: (value: string | undefined) => void,
): [string, (next: string) => void] {
  const [typed, setTyped] = useState(value ?? '');
  const said = useRef(value ?? '');
  const tell = useRef(onChange);
  useEffect(() => {
    tell.current = onChange;
  });
  useEffect(() => {
    if ((value ?? '') === said.current) return;
    said.current = value ?? '';
    setTyped(value ?? '');
  }, [value]);
  useEffect(() => {
    if (typed.trim() === said.current) return undefined;
    const timer = setTimeout(() => {
      said.current = typed.trim();
      tell.current(typed.trim() === '' ? undefined : typed.trim());
    }, AFTER_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return [typed, setTyped];
}
