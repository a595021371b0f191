"""Reports the graph as stock ROS 2 sees it: the operations of graph_questions.py."""
import graph_questions
import peer

peer.run(peer.arguments(__doc__), graph_questions.operations)
