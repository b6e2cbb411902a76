import { Fragment, type ReactNode } from 'react';
import { axisLabel, defaultFormat } from './chart-axes.ts';
import type { DrawingProps } from './chart-drawing.tsx';
import type { Point } from './chart-with-table.tsx';
import classes from './chart-with-table.module.css';

type TipProps = Pick<DrawingProps, 'x' | 'series' | 'format' | 'openLabel' | 'onOpen'> & { row: Point };

/** The tooltip of a row, with the value of each series. */
export function ChartTip({ row, x, series, format = defaultFormat, openLabel, onOpen }: TipProps): ReactNode {
  return (
    <div className={classes.tip}>
      <strong>{axisLabel(row[x])}</strong>
      {series.map(({ name, label, color }) => {
        const value = row[name];
        return (
          <Fragment key={name}>
            <i style={{ background: color }} />
            <span>{label}</span>
            <b>{typeof value === 'number' ? format(value) : (value ?? '–')}</b>
          </Fragment>
        );
      })}
      {onOpen && openLabel !== undefined && <em>{openLabel}</em>}
    </div>
  );
}
