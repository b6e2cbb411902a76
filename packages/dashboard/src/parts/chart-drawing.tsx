import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { defaultFormat, pointWords } from './chart-axes.ts';
import {
  barsOf,
  type ChartLayout,
  heightOf,
  layoutOf,
  linesOf,
  nearestRow,
  type Place,
} from './chart-layout.ts';
import { ChartTip } from './chart-tip.tsx';
import type { ChartProps, Series } from './chart-with-table.tsx';
import classes from './chart-with-table.module.css';

export type DrawingProps = Omit<ChartProps, 'series'> & {
  series: (Series & { color: string })[];
  height: number;
};

/**
 * The chart itself. The pointer marks the nearest row, and the arrow keys move the mark while the chart has the focus. The marked row is
 * announced, and Enter opens it like a click.
 */
export function ChartDrawing(props: DrawingProps): ReactNode {
  const { title, rows, x, series, format = defaultFormat } = props;
  const { frame, width } = useWidth();
  const height = heightOf(props, props.height);
  const layout = layoutOf({ ...props, format, width, height });
  const { marked, hasFocus, handlers } = useMark(props, layout);
  const row = marked === null ? undefined : rows[marked];
  return (
    <>
      {series.length > 1 && <Legend series={series} />}
      <div ref={frame} className={classes.drawing} style={{ height }}>
        {width > 0 && (
          <svg
            className={classes.surface}
            width={width}
            height={height}
            role="application"
            aria-label={title}
            tabIndex={0}
            {...handlers}
          >
            <Axes layout={layout} />
            <Marks {...props} layout={layout} marked={marked} />
          </svg>
        )}
        {row && marked !== null && (
          <div className={classes.tipPlace} style={tipPlace(layout, marked, width)}>
            <ChartTip {...props} row={row} />
          </div>
        )}
        <span role="status" className="beckon-visually-hidden">
          {hasFocus && row ? pointWords(row, { x, series, format }) : ''}
        </span>
      </div>
    </>
  );
}

/** The marked row, and the handlers of the chart that mark and open rows. */
function useMark({ rows, x, onOpen }: DrawingProps, layout: ChartLayout) {
  const [marked, setMarked] = useState<number | null>(null);
  const [hasFocus, setFocus] = useState(false);
  const open = (): void => {
    const row = marked === null ? undefined : rows[marked];
    if (row) onOpen?.(String(row[x]));
  };
  const point = ({ currentTarget, clientX, clientY }: PointerEvent): void => {
    const { left, top } = currentTarget.getBoundingClientRect();
    setMarked(nearestRow(layout, layout.isByGroup ? clientY - top : clientX - left));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = movedBy(event.key, marked ?? 0, rows.length - 1);
    if (next === null && !(event.key === 'Enter' && onOpen)) return;
    event.preventDefault();
    event.stopPropagation();
    if (next === null) open();
    else setMarked(next);
  };
  const focus = (hasIt: boolean): void => {
    setFocus(hasIt);
    setMarked(hasIt ? (marked ?? 0) : null);
  };
  const handlers = {
    onKeyDown,
    // A click opens the row below the pointer; the focus would mark another one.
    onMouseDown: (event: MouseEvent) => event.preventDefault(),
    onPointerDown: point,
    onPointerMove: point,
    onPointerLeave: () => setMarked(null),
    onClick: open,
    onFocus: () => focus(true),
    onBlur: () => focus(false),
  };
  return { marked, hasFocus, handlers };
}

/** The width of the drawing, before the first frame and whenever it changes. */
function useWidth(): { frame: RefObject<HTMLDivElement | null>; width: number } {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    setWidth(element.clientWidth);
    const sizes = new ResizeObserver(() => setWidth(element.clientWidth));
    sizes.observe(element);
    return () => sizes.disconnect();
  }, []);
  return { frame, width };
}

/** The row that a key moves to; null for other keys. */
function movedBy(key: string, from: number, last: number): number | null {
  switch (key) {
    case 'ArrowRight':
    case 'ArrowDown':
      return Math.min(last, from + 1);
    case 'ArrowLeft':
    case 'ArrowUp':
      return Math.max(0, from - 1);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
}

function Legend({ series }: Pick<DrawingProps, 'series'>): ReactNode {
  return (
    <ul className={classes.legend}>
      {series.map(({ name, label, color }) => (
        <li key={name}>
          <i style={{ background: color }} />
          {label}
        </li>
      ))}
    </ul>
  );
}

const LABEL_GAP_PX = 8;

function Axes({ layout: { isByGroup, plot, values, names } }: { layout: ChartLayout }): ReactNode {
  const [right, bottom] = [plot.x + plot.width, plot.y + plot.height];
  const [across, down] = isByGroup ? [values, names] : [names, values];
  return (
    <>
      <g className={classes.grid} data-part="grid">
        {values.map(({ at }) =>
          isByGroup ? (
            <line key={at} x1={at} x2={at} y1={plot.y} y2={bottom} />
          ) : (
            <line key={at} x1={plot.x} x2={right} y1={at} y2={at} />
          ),
        )}
      </g>
      <g className={classes.labels} data-part="x-labels" textAnchor="middle">
        {across.map(({ at, label }) => (
          <text key={at} x={at} y={bottom + LABEL_GAP_PX} dominantBaseline="hanging">
            {label}
          </text>
        ))}
      </g>
      <g className={classes.labels} data-part="y-labels" textAnchor="end">
        {down.map(({ at, label }) => (
          <text key={at} x={plot.x - LABEL_GAP_PX} y={at} dominantBaseline="central">
            {label}
          </text>
        ))}
      </g>
    </>
  );
}

type MarksProps = DrawingProps & { layout: ChartLayout; marked: number | null };

function Marks(props: MarksProps): ReactNode {
  const { layout, marked, kind, series } = props;
  const { plot, centers, isByGroup, band } = layout;
  const isLine = kind === 'line' || kind === 'area';
  const at = marked === null ? null : (centers[marked] ?? null);
  return (
    <>
      {at !== null && isLine && (
        <line className={classes.cursor} x1={at} x2={at} y1={plot.y} y2={plot.y + plot.height} />
      )}
      {at !== null && !isLine && (
        <rect
          className={classes.highlight}
          {...(isByGroup
            ? { x: plot.x, width: plot.width, y: at - band / 2, height: band }
            : { y: plot.y, height: plot.height, x: at - band / 2, width: band })}
        />
      )}
      {isLine ? (
        series.map((entry) => <Line key={entry.name} {...props} entry={entry} />)
      ) : (
        <Bars {...props} />
      )}
    </>
  );
}

function Bars(props: MarksProps): ReactNode {
  const { rows, series, layout } = props;
  return rows.map((_, at) =>
    barsOf(layout, props, at)
      .filter(({ width, height }) => width > 0 && height > 0)
      .map(({ series: index, ...bar }) => (
        <rect key={`${at} ${index}`} {...bar} fill={series[index]?.color} />
      )),
  );
}

function Line(props: MarksProps & { entry: DrawingProps['series'][number] }): ReactNode {
  const { kind, rows, layout, marked, entry } = props;
  const { name, color, isDashed = false } = entry;
  const value = marked === null ? undefined : rows[marked]?.[name];
  const base = layout.plot.y + layout.plot.height;
  return (
    <>
      {linesOf(layout, props, name).map((places, at) => {
        const [first, last] = [places.at(0), places.at(-1)];
        if (!first || !last) return null;
        return (
          <g key={at}>
            {kind === 'area' && !isDashed && (
              <polygon
                className={classes.area}
                points={pointsOf([{ x: first.x, y: base }, ...places, { x: last.x, y: base }])}
                fill={color}
              />
            )}
            <polyline
              className={classes.line}
              points={pointsOf(places)}
              stroke={color}
              strokeDasharray={isDashed ? '4 4' : undefined}
            />
            {places.length === 1 && <circle cx={first.x} cy={first.y} r={3} fill={color} />}
          </g>
        );
      })}
      {marked !== null && typeof value === 'number' && (
        <circle
          className={classes.marked}
          cx={layout.centers[marked]}
          cy={layout.placeOf(value)}
          r={4}
          fill={color}
        />
      )}
    </>
  );
}

function pointsOf(places: Place[]): string {
  return places.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
}

/** Beside the marked row, on the side that has more space. */
function tipPlace({ isByGroup, plot, centers }: ChartLayout, marked: number, width: number) {
  const at = centers[marked] ?? 0;
  if (isByGroup) return { top: at, right: width - plot.x - plot.width };
  return at > plot.x + plot.width / 2
    ? { top: plot.y, right: width - at + LABEL_GAP_PX }
    : { top: plot.y, left: at + LABEL_GAP_PX };
}
