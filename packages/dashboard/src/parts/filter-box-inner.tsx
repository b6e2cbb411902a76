import { Search, X } from 'lucide-react';
import {
  type FocusEvent as ReactFocusEvent,
  type KeyboardEvent as ReactKeyboardEvent,
  type ReactNode,
  type RefObject,
  Suspense,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import type { FilterBoxProps } from './filter-box.tsx';
import classes from './filter-box.module.css';
import {
  type FilterParts,
  isUnfinished,
  joinFilter,
  keyTerm,
  splitFilter,
  takeAll,
  takeFinished,
} from './filter-text.ts';
import { lazyPart } from './load-part.ts';
import { useKeys } from './use-keys.tsx';

/** The delay between the last keystroke and the request, which is longer while a value is typed: part of it may be no value. */
const AFTER_MS = 250;
const UNFINISHED_AFTER_MS = 700;

/** The suggestions are loaded when the filter is first used. */
const FilterSuggestions = lazyPart(() => import('./filter-suggestions.tsx'), 'FilterSuggestions');

/** Handles a key that was pressed in the input; true if it did something. */
export type SuggestionKeys = (key: string) => boolean;
/** What the input reports to screen readers about its suggestions. */
export type Expanded = { activeId: string | undefined } | null;

/**
 * The filter of all lists. Terms with a key are chips, and everything else is text in the input. `/` focuses it; Esc closes the suggestions,
 * then leaves it; Backspace in an empty input removes the last chip.
 */
export function FilterBoxInner(props: FilterBoxProps): ReactNode {
  const { fault, list } = props;
  const box = useFilterBox(props);
  const { input, parts, setParts, isOpen, listId, errorId } = box;
  useKeys('List', { '/': { label: 'Filter', run: () => input.current?.focus() } });
  const message = fault?.field === 'filter' ? fault.message : undefined;
  return (
    <div className={classes.root} onBlur={box.left}>
      <div
        className={classes.box}
        {...(message === undefined ? {} : { 'data-invalid': true })}
        onClick={({ target, currentTarget }) => {
          if (target === currentTarget) input.current?.focus();
        }}
      >
        <Search size={15} aria-hidden="true" className={classes.icon} />
        <Chips chips={parts.chips} onEdit={box.edit} onRemove={box.remove} />
        <FilterInput {...props} box={box} isFaulty={message !== undefined} />
        {joinFilter(parts) !== '' && (
          <button type="button" className={classes.remove} aria-label="Clear filter" onClick={box.clear}>
            <X size={14} aria-hidden="true" />
          </button>
        )}
      </div>
      {message !== undefined && (
        <p className={classes.error} id={errorId}>
          {message}
        </p>
      )}
      {isOpen && list !== undefined && (
        <Suspense fallback={null}>
          <FilterSuggestions
            id={listId}
            list={list}
            typed={parts.typed}
            handles={box.suggestionKeys}
            onExpanded={box.setExpanded}
            onPick={(typed, isWhole) => {
              setParts(isWhole ? takeAll({ ...parts, typed }) : { ...parts, typed });
              input.current?.focus();
            }}
          />
        </Suspense>
      )}
    </div>
  );
}

type Box = ReturnType<typeof useFilterBox>;

function useFilterBox({ value, onChange }: FilterBoxProps) {
  const input = useRef<HTMLInputElement>(null);
  const [parts, setParts] = useParts(value, onChange);
  const [isOpen, setOpen] = useState(false);
  const [expanded, setExpanded] = useState<Expanded>(null);
  const suggestionKeys = useRef<SuggestionKeys>(() => false);
  const [listId, errorId] = [useId(), useId()];
  const change = (next: FilterParts): void => {
    setParts(next);
    input.current?.focus();
  };
  const without = (index: number): string[] => parts.chips.filter((_, at) => at !== index);
  const clear = (): void => change({ chips: [], typed: '' });
  const remove = (index: number): void => change({ ...parts, chips: without(index) });
  const edit = (index: number): void => {
    const before = parts.typed === '' ? '' : `${parts.typed.trim()} `;
    change({ chips: without(index), typed: `${before}${parts.chips[index] ?? ''}` });
    setOpen(true);
  };
  const left = (event: ReactFocusEvent<HTMLDivElement>): void => {
    if (event.currentTarget.contains(event.relatedTarget)) return;
    setOpen(false);
    setParts(takeAll(parts));
  };
  const state = { input, parts, setParts, isOpen, setOpen, expanded, setExpanded, suggestionKeys };
  return { ...state, listId, errorId, clear, remove, edit, left };
}

function FilterInput(props: FilterBoxProps & { box: Box; isFaulty: boolean }): ReactNode {
  const { label = 'Filter', placeholder, isFaulty, box } = props;
  const { input, parts, setParts, isOpen, setOpen, expanded, listId, errorId } = box;
  return (
    <input
      ref={input}
      className={classes.input}
      role="combobox"
      aria-label={label}
      aria-autocomplete="list"
      aria-expanded={isOpen && expanded !== null}
      aria-controls={listId}
      aria-activedescendant={isOpen ? expanded?.activeId : undefined}
      aria-invalid={isFaulty}
      aria-describedby={isFaulty ? errorId : undefined}
      placeholder={parts.chips.length === 0 ? placeholder : undefined}
      value={parts.typed}
      spellCheck={false}
      autoComplete="off"
      autoCapitalize="off"
      onChange={({ currentTarget }) => {
        setParts(takeFinished({ ...parts, typed: currentTarget.value }));
        setOpen(true);
      }}
      onClick={() => setOpen(true)}
      onKeyDown={(event) => pressed(event, box)}
    />
  );
}

function pressed(event: ReactKeyboardEvent<HTMLInputElement>, box: Box): void {
  const { input, parts, setParts, isOpen, setOpen, expanded, suggestionKeys } = box;
  if (event.nativeEvent.isComposing) return;
  if (isOpen && suggestionKeys.current(event.key)) event.preventDefault();
  else if (event.key === 'ArrowDown') setOpen(true);
  else if (event.key === 'Enter') {
    setParts(takeAll(parts));
    setOpen(false);
  } else if (event.key === 'Escape') {
    if (expanded) setOpen(false);
    else input.current?.blur();
  } else if (event.key === 'Backspace' && parts.typed === '') {
    setParts({ ...parts, chips: parts.chips.slice(0, -1) });
  }
}

type ChipsProps = { chips: string[]; onEdit: (index: number) => void; onRemove: (index: number) => void };

function Chips({ chips, onEdit, onRemove }: ChipsProps): ReactNode {
  if (chips.length === 0) return null;
  return (
    <ul className={classes.chips} aria-label="Filters">
      {chips.map((chip, index) => {
        const { isNegated = false, key = '', value = chip } = keyTerm(chip) ?? {};
        return (
          <li
            // Two equal chips are the same term, so their order says which is which.
            key={`${index} ${chip}`}
            className={isNegated ? `${classes.chip} ${classes.negated}` : classes.chip}
          >
            <button
              type="button"
              className={classes.edit}
              aria-label={`Edit filter ${chip}`}
              title={chip}
              onClick={() => onEdit(index)}
            >
              {isNegated && <span className={classes.not}>not</span>}
              <span className={classes.key}>{key}:</span> {value}
            </button>
            <button
              type="button"
              className={classes.remove}
              aria-label={`Remove filter ${chip}`}
              onClick={() => onRemove(index)}
            >
              <X size={13} aria-hidden="true" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}

export type HandlesRef = RefObject<SuggestionKeys>;

/** Typed text updates the URL after a delay. A URL change from elsewhere replaces the parts. */
function useParts(
  value: string | undefined,
  onChange: (value: string | undefined) => void,
): [FilterParts, (next: FilterParts) => void] {
  const [parts, setParts] = useState(() => splitFilter(value ?? ''));
  const lastValue = useRef(value ?? '');
  const latestOnChange = useRef(onChange);
  useEffect(() => {
    latestOnChange.current = onChange;
  });
  useEffect(() => {
    if ((value ?? '') === lastValue.current) return;
    lastValue.current = value ?? '';
    setParts(splitFilter(value ?? ''));
  }, [value]);
  const text = joinFilter(parts);
  const delay = isUnfinished(parts.typed) ? UNFINISHED_AFTER_MS : AFTER_MS;
  useEffect(() => {
    // The URL of a shared link may have another order of terms, which stays as it is.
    if (text === joinFilter(splitFilter(lastValue.current)) || text === lastValue.current) return undefined;
    const timer = setTimeout(() => {
      lastValue.current = text;
      latestOnChange.current(text === '' ? undefined : text);
    }, delay);
    return () => clearTimeout(timer);
  }, [text, delay]);
  return [parts, setParts];
}
