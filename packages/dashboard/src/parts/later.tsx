import { type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react';
import { loadPart } from './load-part.ts';
import { Lines } from './page.tsx';
import { useFocusBack } from './use-focus-back.ts';

/**
 * A component that is loaded when it is first shown: dialogs, forms, tabs after the first. A screen has 250 kB for everything
 * that it needs initially. `later(() => import('./edit-form.tsx'), 'EditForm')`.
 */
export function later<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
  waiting: ReactNode = <Lines />,
): Module[Name] {
  const Loaded = lazy(async () => ({ default: (await loadPart(load))[name] as ComponentType<object> }));
  function Later(props: object): ReactNode {
    useFocusBack(true);
    return (
      <Suspense fallback={waiting}>
        <Loaded {...props} />
      </Suspense>
    );
  }
  // It passes all props to the component.
  return Later as Module[Name];
}

/** Loads its content when first opened, and keeps it, so that closing is animated. */
export function WhenOpened({ opened, children }: { opened: boolean; children: ReactNode }): ReactNode {
  const [was, setWas] = useState(opened);
  if (opened && !was) setWas(true);
  useFocusBack(opened);
  return was && children;
}
