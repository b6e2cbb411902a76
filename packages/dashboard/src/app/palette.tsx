import { Modal } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Search } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import classes from './palette.module.css';
import { ErrorBox } from '../parts/index.ts';
import { type Entry, matching, type Section, useSections } from './palette-entries.tsx';
import { type SearchState, useSearchState } from './palette-search.ts';

export type PaletteProps = { opened: boolean; onClose: () => void; onPause: () => void; onHelp: () => void };

/** The command menu (Ctrl K): screens, projects, everything that the search finds, and global actions. */
export function Palette({ opened, onClose, ...doing }: PaletteProps): ReactNode {
  return (
    <Modal.Root opened={opened} onClose={onClose} size={600} yOffset="12vh" centered={false}>
      <Modal.Overlay backgroundOpacity={0.4} />
      <Modal.Content aria-label="Go to or search" aria-labelledby={undefined}>
        <Modal.Body p={0}>
          <Chooser onClose={onClose} {...doing} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

const ASK_AFTER_MS = 200;

/** A component of its own, so that its state resets each time it opens. */
function Chooser({ onClose, ...doing }: Omit<PaletteProps, 'opened'>): ReactNode {
  const id = useId();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const [debouncedQuery] = useDebouncedValue(query.trim(), ASK_AFTER_MS);
  const search = useSearchState(query.trim(), debouncedQuery);
  const [screens, ...others] = matching(useSections(doing), query);
  const ofScreens = screens ? [screens] : [];
  const sections =
    query.trim() === ''
      ? [...search.sections, ...ofScreens, ...others]
      : [...ofScreens, ...search.sections, ...others];
  const entries = sections.flatMap((section) => section.entries);
  const current = Math.min(at, Math.max(0, entries.length - 1));
  const choose = (entry: Entry | undefined): void => {
    if (!entry) return;
    onClose();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: entries.length - 1 }[event.key];
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter') choose(entries[current]);
    if (to === undefined) return;
    event.preventDefault();
    const next = (to + entries.length) % Math.max(1, entries.length);
    setAt(next);
    document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <>
      <div className={classes.search}>
        <Search size={16} aria-hidden="true" />
        <input
          data-autofocus
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-label="Go to or search"
          {...(entries.length > 0 ? { 'aria-activedescendant': `${id}-${current}` } : {})}
          placeholder="Search users, rules, emails, screens…"
          autoComplete="off"
          spellCheck={false}
          value={query}
          onChange={(event) => {
            setQuery(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div id={`${id}-list`} role="listbox" aria-label="Search results" className={classes.list}>
        {sections.map((section) => (
          <Listed key={section.title} {...{ section, id, entries, current, choose }} />
        ))}
      </div>
      <SearchNote search={search} count={entries.length} />
    </>
  );
}

/** Below the list: whether the search is running, failed, found nothing or is incomplete. */
function SearchNote({ search, count }: { search: SearchState; count: number }): ReactNode {
  const { error, isPending, isPartial, retry } = search;
  if (error)
    return (
      <div className={classes.failed}>
        <ErrorBox error={error} title="Search failed" retry={retry} />
      </div>
    );
  const words = isPending
    ? 'Searching…'
    : isPartial
      ? 'The search took too long, so the results are incomplete. Type more of the id or the address.'
      : count === 0
        ? 'No results.'
        : null;
  return (
    <>
      {words !== null && <p className={classes.none}>{words}</p>}
      <span className="beckon-visually-hidden" role="status">
        {isPending ? 'Searching' : `${count} results`}
      </span>
    </>
  );
}

type ListedProps = {
  section: Section;
  id: string;
  entries: Entry[];
  current: number;
  choose: (entry: Entry) => void;
};

function Listed({
  section: { title, entries: sectionEntries },
  id,
  entries,
  current,
  choose,
}: ListedProps): ReactNode {
  if (sectionEntries.length === 0) return null;
  return (
    <div role="group" aria-label={title}>
      <div className={classes.title} aria-hidden="true">
        {title}
      </div>
      {sectionEntries.map((entry) => {
        const index = entries.indexOf(entry);
        const { icon: Icon, label, beside, key } = entry;
        return (
          // The field above keeps the focus and handles the keyboard.
          <div
            key={key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === current}
            className={classes.option}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(entry)}
          >
            <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
            <span className={classes.label}>{label}</span>
            {beside !== undefined && <span className={classes.beside}>{beside}</span>}
          </div>
        );
      })}
    </div>
  );
}
