import type { ListName } from '@beckon/contract/dashboard';
import { useState } from 'react';
import { useSession } from '../api/index.ts';
import type { Sort } from './table-head.tsx';

/** The columns that a member hid, and the density of the rows. */
export type ListLook = { hidden: readonly string[]; isCompact: boolean };
export type LookState = { look: ListLook; setLook: (next: ListLook) => void };

/** Each member has their own look of each list, kept in the browser. `hidden`: the columns that are hidden until a member shows them. */
export function useListLook(list: ListName, hidden: readonly string[] = []): LookState {
  const member = useSession().data?.data.member?.id ?? '';
  const name = `beckon-list:${member}:${list}`;
  const [held, setHeld] = useState(() => ({ name, look: read(name, hidden) }));
  return {
    look: held.name === name ? held.look : read(name, hidden),
    setLook(look) {
      write(name, look);
      setHeld({ name, look });
    },
  };
}

function read(name: string, hiddenFirst: readonly string[]): ListLook {
  try {
    const { hidden, isCompact } = JSON.parse(localStorage.getItem(name) ?? '{}') as Partial<ListLook>;
    const ids = Array.isArray(hidden) ? hidden.filter((id) => typeof id === 'string') : hiddenFirst;
    return { hidden: ids, isCompact: isCompact === true };
  } catch {
    return { hidden: hiddenFirst, isCompact: false };
  }
}

/** With full storage, the look lasts as long as the page. */
function write(name: string, look: ListLook): void {
  try {
    localStorage.setItem(name, JSON.stringify(look));
  } catch {
    localStorage.removeItem(name);
  }
}

/** Reads `sort=` of the URL: a column, with `-` in front for descending. */
export function readSort(text: string): Sort {
  return text.startsWith('-') ? { by: text.slice(1), down: true } : { by: text, down: false };
}

export function printSort({ by, down }: Sort): string {
  return down ? `-${by}` : by;
}

/** The order of a list for `DataTable` and `ListBar`. `set` puts it into the URL. */
export function orderOf<S extends string>(
  sort: S,
  set: (sort: S) => void,
): { sort: Sort; onSort: (sort: Sort) => void } {
  return { sort: readSort(sort), onSort: (next) => set(printSort(next) as S) };
}
