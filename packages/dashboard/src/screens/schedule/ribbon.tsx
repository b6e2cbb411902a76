import { Text } from '@mantine/core';
import {
  type CSSProperties,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  useRef,
  useState,
} from 'react';
import { reasonWords } from '../../parts/policy-words.ts';
import { type Cell, cellBeside, type Day, highest } from './week.ts';
import classes from './ribbon.module.css';

/** The dragged data: the id of a draft. */
export const DRAGGED = 'application/x-beckon-draft';

export type RibbonProps = {
  days: Day[];
  /** The throttle per hour; null: no throttle. */
  perHour: number | null;
  chosen: string | undefined;
  onChoose: (at: string) => void;
  /** A draft was dropped onto an hour. */
  onDrop: (draft: string, cell: Cell) => void;
};

/** The week with one cell per hour: planned emails and quiet hours. Arrow keys move between hours. */
export function Ribbon({ days, ...props }: RibbonProps): ReactNode {
  const first = days[0]?.cells[0]?.at ?? '';
  const [focused, setFocused] = useState(first);
  const [pointed, setPointed] = useState<Cell | null>(null);
  const grid = useRef<HTMLDivElement>(null);
  const isThere = days.some(({ cells }) => cells.some(({ at }) => at === focused));
  const goTo = (at: string): void => {
    setFocused(at);
    grid.current?.querySelector<HTMLElement>(`[data-at="${at}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent, at: string): void => {
    const by = STEPS[event.key];
    if (by !== undefined) goTo(cellBeside(days, at, by));
    else if (event.key === 'Enter' || event.key === ' ') props.onChoose(at);
    else return;
    event.preventDefault();
  };
  const cellOf = (cell: Cell): ReactNode => (
    <HourCell
      key={cell.at}
      {...props}
      cell={cell}
      top={highest(days)}
      isFocusable={cell.at === (isThere ? focused : first)}
      onFocus={() => {
        setFocused(cell.at);
        setPointed(cell);
      }}
      onPointerEnter={() => setPointed(cell)}
      onKeyDown={(event) => onKeyDown(event, cell.at)}
    />
  );
  return (
    <div className={classes.ribbon} style={widthOf(days)}>
      <Hours />
      <div
        ref={grid}
        role="grid"
        aria-label="Planned emails by hour"
        className={classes.ribbon}
        aria-multiselectable="false"
      >
        {days.map(({ date, cells, blanks }) => (
          <div key={date} role="row" className={classes.row}>
            <span role="rowheader" className={classes.day}>
              {dayLabel(date)}
            </span>
            <div className={classes.cells} role="presentation">
              {Array.from({ length: blanks }, (_, hour) => (
                <span key={hour} className={classes.blank} aria-hidden="true" />
              ))}
              {cells.map(cellOf)}
            </div>
          </div>
        ))}
      </div>
      <Readout cell={pointed} perHour={props.perHour} />
    </div>
  );
}

/** The hovered hour in words; screen readers get them from the cell. */
function Readout({ cell, perHour }: { cell: Cell | null; perHour: number | null }): ReactNode {
  return (
    <Text size="sm" aria-hidden="true" className={classes.readout}>
      {cell ? cellWords(cell, perHour) : 'Point at an hour, or use the arrow keys.'}
    </Text>
  );
}

/** A day on which the clocks go back has one more hour. */
function widthOf(days: Day[]): CSSProperties {
  const hours = Math.max(24, ...days.map(({ cells, blanks }) => cells.length + blanks));
  return { '--ribbon-hours': hours } as CSSProperties;
}

function Hours(): ReactNode {
  return (
    <div className={classes.row} aria-hidden="true">
      <span />
      <div className={classes.hours}>
        {Array.from({ length: 24 }, (_, hour) => (
          <span key={hour}>{hour % 3 === 0 ? String(hour).padStart(2, '0') : ''}</span>
        ))}
      </div>
    </div>
  );
}

const STEPS: Record<string, number | undefined> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -24,
  ArrowDown: 24,
};

const DAY = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});

/** Formats a date without a zone. */
function dayLabel(date: string): string {
  return DAY.format(new Date(`${date}T12:00:00.000Z`));
}

type HourProps = Omit<RibbonProps, 'days'> & {
  cell: Cell;
  top: number;
  isFocusable: boolean;
  onFocus: () => void;
  onPointerEnter: () => void;
  onKeyDown: (event: KeyboardEvent) => void;
};

function HourCell({
  cell,
  top,
  perHour,
  chosen,
  onChoose,
  onDrop,
  isFocusable,
  ...on
}: HourProps): ReactNode {
  const [isOver, setIsOver] = useState(false);
  const { at, sends, deadlines, quiet, tried } = cell;
  const label = cellWords(cell, perHour);
  const isFull = perHour !== null && sends > 0 && sends >= perHour;
  const take = (event: DragEvent): void => {
    if (!event.dataTransfer.types.includes(DRAGGED)) return;
    event.preventDefault();
    setIsOver(true);
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setIsOver(false);
    const draft = event.dataTransfer.getData(DRAGGED);
    if (draft !== '') onDrop(draft, cell);
  };
  return (
    <div
      role="gridcell"
      data-at={at}
      tabIndex={isFocusable ? 0 : -1}
      aria-label={label}
      aria-selected={chosen === at}
      className={isOver ? `${classes.cell} ${classes.over}` : classes.cell}
      onClick={() => onChoose(at)}
      onDragOver={take}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
      {...on}
    >
      {quiet > 0 && <span className={classes.quiet} style={{ opacity: Math.max(0.4, quiet) }} />}
      {sends > 0 && (
        <span
          className={isFull ? `${classes.bar} ${classes.full}` : classes.bar}
          style={{ height: `${(sends / top) * 80}%` }}
        />
      )}
      {tried !== null && tried > 0 && (
        <span className={classes.tried} style={{ height: `${(tried / top) * 80}%` }} />
      )}
      {deadlines > 0 && <span className={classes.deadline} />}
    </div>
  );
}

function cellWords(cell: Cell, perHour: number | null): string {
  const { time, sends, deadlines, waited, tried, quiet } = cell;
  const of = perHour === null ? '' : ` of ${perHour.toLocaleString('en')} allowed by the throttle`;
  const held = Object.entries(waited).map(([reason, count]) => `${count} delayed by ${reasonWords(reason)}`);
  return [
    `${time}: ${sends.toLocaleString('en')} ${sends === 1 ? 'email' : 'emails'}${sends > 0 ? of : ''}`,
    ...held,
    ...(deadlines > 0
      ? [`${deadlines.toLocaleString('en')} ${deadlines === 1 ? 'deadline' : 'deadlines'}`]
      : []),
    ...(tried === null || tried === sends ? [] : [`${tried.toLocaleString('en')} with the tested policy`]),
    ...(quiet > 0 ? ['quiet hours'] : []),
  ].join(', ');
}

/** The legend of the timeline. */
export function Legend({ isTrying }: { isTrying: boolean }): ReactNode {
  const items: [string, string][] = [
    [classes.bar ?? '', 'planned emails'],
    [classes.deadline ?? '', 'deadlines'],
    [classes.quiet ?? '', 'quiet hours'],
    ...(isTrying ? [[classes.tried ?? '', 'with the tested policy'] as [string, string]] : []),
  ];
  return (
    <div className={classes.legend} aria-hidden="true">
      {items.map(([name, label]) => (
        <span key={label}>
          <span className={classes.swatch}>
            <span className={name} style={name === classes.deadline ? { top: 4 } : { height: '70%' }} />
          </span>
          {label}
        </span>
      ))}
    </div>
  );
}
