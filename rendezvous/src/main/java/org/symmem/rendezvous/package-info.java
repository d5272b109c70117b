/**
 * Who the ranks are and how they meet: process groups from a launcher's environment or over a store, the store itself (PyTorch's
 * TCPStore protocol, client and server), and the passing of file descriptors.
 */
@NullMarked
package org.symmem.rendezvous;

import org.jspecify.annotations.NullMarked;
