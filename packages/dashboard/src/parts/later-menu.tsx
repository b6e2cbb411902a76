import {
  cloneElement,
  type ComponentType,
  type HTMLAttributes,
  lazy,
  type ReactElement,
  type ReactNode,
  type RefAttributes,
  startTransition,
  Suspense,
  useState,
} from 'react';

import { loadPart } from './load-part.ts';

type Button = ReactElement<HTMLAttributes<HTMLElement> & RefAttributes<HTMLElement>>;
/** The button of a menu, which the loaded menu shows too. */
export type MenuButton = { button: Button };

/**
 * A menu that is loaded when it is opened, because menus are a large component and a page needs only their buttons. It begins to load when
 * the pointer or the focus reaches the button. `load` resolves to a component that shows a `LoadedMenu`.
 */
export function laterMenu<Props extends MenuButton>(
  load: () => Promise<ComponentType<Props>>,
): (props: Props) => ReactNode {
  const Loaded = lazy(async () => ({ default: await loadPart(load) }));
  return function LaterMenu(props: Props): ReactNode {
    const [isOpened, setOpened] = useState(false);
    const preload = (): void => void load();
    const button = cloneElement(props.button, {
      'aria-haspopup': 'menu',
      'aria-expanded': false,
      onPointerEnter: preload,
      onFocus: preload,
      // The button stays until the menu is loaded.
      onClick: () => startTransition(() => setOpened(true)),
    });
    return <Suspense fallback={button}>{isOpened ? <Loaded {...props} /> : button}</Suspense>;
  };
}
